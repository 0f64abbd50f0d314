export const SignUpPage = () => <main className="alone">Sign up</main>;

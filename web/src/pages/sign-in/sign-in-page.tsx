export const SignInPage = () => <main className="alone">Sign in</main>;

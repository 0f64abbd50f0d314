export const SetupPage = () => <main className="alone">Set up</main>;
export const InvitePage = () => <main className="alone">Invitation</main>;

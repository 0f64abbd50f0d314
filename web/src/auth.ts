import { send } from './api.ts';

/** The sign-in's own endpoints, under /api/auth. */
const auth = (path: string, body: unknown = {}): Promise<unknown> => send(`/api/auth${path}`, 'POST', body);

/** @returns whether a second factor is still to be given. @throws ApiProblem */
export async function signIn(email: string, password: string): Promise<{ needsSecondFactor: boolean }> {
  const answer = (await auth('/sign-in/email', { email, password, rememberMe: true })) as {
    twoFactorRedirect?: boolean;
  } | null;
  return { needsSecondFactor: answer?.twoFactorRedirect === true };
}

/** Gives the second factor: six digits of the app, or one of the backup codes. */
export const submitTotp = (code: string, trustDevice: boolean): Promise<unknown> =>
  auth('/two-factor/verify-totp', { code, trustDevice });
export const submitBackupCode = (code: string): Promise<unknown> =>
  auth('/two-factor/verify-backup-code', { code });

export type SignUp = Readonly<{ name: string; email: string; password: string; invitation?: string }>;

/** Makes a user and signs in. With an invitation its token goes along, by which sign-up is let through. */
export const signUp = (user: SignUp): Promise<unknown> => auth('/sign-up/email', user);

export const signOut = (): Promise<unknown> => auth('/sign-out');

/** Begins to sign in elsewhere. @returns where the browser must go. */
export async function startOidc(providerId: string, next: string): Promise<string> {
  const answer = (await auth('/sign-in/oauth2', {
    providerId,
    callbackURL: next,
    errorCallbackURL: '/sign-in',
  })) as {
    url: string;
  };
  return answer.url;
}

export const changeName = (name: string): Promise<unknown> => auth('/update-user', { name });

export const changePassword = (currentPassword: string, newPassword: string): Promise<unknown> =>
  auth('/change-password', { currentPassword, newPassword, revokeOtherSessions: true });

/** Begins to set up the second factor; it holds once a first code was given. */
export const enableTwoFactor = async (
  password: string,
): Promise<{ totpURI: string; backupCodes: string[] }> =>
  (await auth('/two-factor/enable', { password })) as { totpURI: string; backupCodes: string[] };

export const disableTwoFactor = (password: string): Promise<unknown> =>
  auth('/two-factor/disable', { password });

export type Session = Readonly<{
  id: string;
  token: string;
  createdAt: string;
  expiresAt: string;
  ipAddress: string | null;
  userAgent: string | null;
}>;

export const listSessions = async (): Promise<Session[]> =>
  (await send('/api/auth/list-sessions', 'GET')) as Session[];

/** The session of this browser. */
export const currentSession = async (): Promise<Session | null> =>
  ((await send('/api/auth/get-session', 'GET')) as { session: Session } | null)?.session ?? null;

export const revokeSession = (token: string): Promise<unknown> => auth('/revoke-session', { token });
export const revokeOtherSessions = (): Promise<unknown> => auth('/revoke-other-sessions');

/** Begins to link an account elsewhere to the one that is signed in. @returns where the browser must go. */
export async function startLink(providerId: string, next: string): Promise<string> {
  const answer = (await auth('/link/oauth2', { providerId, callbackURL: next, errorCallbackURL: next })) as {
    url: string;
  };
  return answer.url;
}

/** Asks for a link with which to set a new password; whether there is such an account is not told. */
export const requestReset = (email: string): Promise<unknown> => auth('/request-password-reset', { email });
export const resetPassword = (token: string, newPassword: string): Promise<unknown> =>
  auth('/reset-password', { token, newPassword });

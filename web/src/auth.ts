import { ApiProblem, send } from './api.ts';

/** Replacements for messages of the sign-in library, by code, and the field to which they belong. */
const messages: Readonly<Record<string, readonly [field: string | null, text: string]>> = {
  INVALID_EMAIL_OR_PASSWORD: [null, 'Invalid email or password.'],
  INVALID_PASSWORD: ['currentPassword', 'Current password is incorrect.'],
  INVALID_CODE: ['code', 'Incorrect code. Enter the latest code from your app.'],
  INVALID_BACKUP_CODE: ['code', 'This backup code is incorrect or was already used.'],
  INVALID_TOKEN: [null, 'This reset link is invalid or has expired. Request a new one.'],
};

async function auth(path: string, body: unknown = {}): Promise<unknown> {
  try {
    return await send(`/api/auth${path}`, 'POST', body);
  } catch (thrown) {
    const replacement = thrown instanceof ApiProblem ? messages[thrown.code] : undefined;
    if (!(thrown instanceof ApiProblem) || replacement === undefined) throw thrown;
    const [field, text] = replacement;
    throw new ApiProblem(thrown.status, thrown.code, text, field === null ? {} : { [field]: text });
  }
}

/** @returns whether two-factor authentication is still required. @throws ApiProblem */
export async function signIn(email: string, password: string): Promise<{ needsSecondFactor: boolean }> {
  const response = (await auth('/sign-in/email', { email, password, rememberMe: true })) as {
    twoFactorRedirect?: boolean;
  } | null;
  return { needsSecondFactor: response?.twoFactorRedirect === true };
}

export const submitTotp = (code: string, trustDevice: boolean): Promise<unknown> =>
  auth('/two-factor/verify-totp', { code, trustDevice });
export const submitBackupCode = (code: string): Promise<unknown> =>
  auth('/two-factor/verify-backup-code', { code });

export type SignUp = Readonly<{ name: string; email: string; password: string; invitation?: string }>;

/** Signs up and signs in. An invitation token permits sign-up by invitation only. */
export const signUp = (user: SignUp): Promise<unknown> => auth('/sign-up/email', user);

export const signOut = (): Promise<unknown> => auth('/sign-out');

export async function startOidc(providerId: string, next: string): Promise<string> {
  const response = (await auth('/sign-in/oauth2', {
    providerId,
    callbackURL: next,
    errorCallbackURL: '/sign-in',
  })) as {
    url: string;
  };
  return response.url;
}

export const changeName = (name: string): Promise<unknown> => auth('/update-user', { name });

export const changePassword = (currentPassword: string, newPassword: string): Promise<unknown> =>
  auth('/change-password', { currentPassword, newPassword, revokeOtherSessions: true });

/** Starts two-factor setup; it takes effect once a first code is verified. */
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

export const currentSession = async (): Promise<Session | null> =>
  ((await send('/api/auth/get-session', 'GET')) as { session: Session } | null)?.session ?? null;

export const revokeSession = (token: string): Promise<unknown> => auth('/revoke-session', { token });
export const revokeOtherSessions = (): Promise<unknown> => auth('/revoke-other-sessions');

export async function startLink(providerId: string, next: string): Promise<string> {
  const response = (await auth('/link/oauth2', {
    providerId,
    callbackURL: next,
    errorCallbackURL: next,
  })) as {
    url: string;
  };
  return response.url;
}

/** Requests a password reset link. Never reveals whether the account exists. */
export const requestReset = (email: string): Promise<unknown> => auth('/request-password-reset', { email });
export const resetPassword = (token: string, newPassword: string): Promise<unknown> =>
  auth('/reset-password', { token, newPassword });

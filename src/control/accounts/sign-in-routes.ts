import type { z } from 'zod';
import { name as nameSchema } from '../api/contract/values.ts';

export const NAME_RULE = 'must have 1 to 64 printable characters';

/**
 * Which calls count as attempts. `account`: failed calls, for the account in the body. `session`: failed calls, for the
 * signed-in account. `counted`: every call, because any call may affect other users.
 */
type AttemptPolicy = 'none' | 'account' | 'session' | 'counted';

/** An allowed path of the sign-in library. Requests for any other path get 404. */
export type SignInRoute = Readonly<{
  attempts: AttemptPolicy;
  fields: readonly string[];
  /** Validation in addition to the library's. */
  checked?: Readonly<Record<string, Readonly<{ schema: z.ZodType; message: string }>>>;
  /** The library's path, if different. */
  path?: string;
  /** Handled by this service instead of the library. */
  own?: 'sign-up';
  fixedFields?: (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}>;

const unlimitedRoute = (...fields: string[]): SignInRoute => ({ attempts: 'none', fields });

const oidc = ['providerId', 'callbackURL', 'errorCallbackURL', 'newUserCallbackURL'];
const provider = ({ providerId }: Readonly<Record<string, unknown>>) => ({
  provider: providerId,
  providerId: undefined,
  disableRedirect: true,
});

const routes: Readonly<Record<string, SignInRoute>> = {
  'POST /sign-in/email': { attempts: 'account', fields: ['email', 'password', 'rememberMe'] },
  'POST /sign-up/email': {
    attempts: 'counted',
    fields: ['name', 'email', 'password', 'invitation'],
    own: 'sign-up',
  },
  'POST /sign-in/oauth2': { attempts: 'none', fields: oidc, path: '/sign-in/social', fixedFields: provider },
  'POST /link/oauth2': { attempts: 'none', fields: oidc, path: '/link-social', fixedFields: provider },
  'POST /sign-out': unlimitedRoute(),
  'GET /get-session': unlimitedRoute(),
  'GET /list-sessions': unlimitedRoute(),
  'POST /revoke-session': unlimitedRoute('token'),
  'POST /revoke-sessions': unlimitedRoute(),
  'POST /revoke-other-sessions': unlimitedRoute(),
  'POST /update-user': {
    ...unlimitedRoute('name'),
    checked: { name: { schema: nameSchema, message: NAME_RULE } },
  },
  'POST /change-password': {
    attempts: 'session',
    fields: ['currentPassword', 'newPassword', 'revokeOtherSessions'],
    fixedFields: () => ({ revokeOtherSessions: true }),
  },
  'POST /request-password-reset': { attempts: 'counted', fields: ['email'] },
  'POST /reset-password': { attempts: 'counted', fields: ['newPassword', 'token'] },
  'POST /two-factor/enable': { attempts: 'session', fields: ['password'] },
  'POST /two-factor/disable': { attempts: 'session', fields: ['password'] },
  'POST /two-factor/generate-backup-codes': { attempts: 'session', fields: ['password'] },
  'POST /two-factor/verify-totp': { attempts: 'session', fields: ['code', 'trustDevice'] },
  'POST /two-factor/verify-backup-code': { attempts: 'session', fields: ['code', 'trustDevice'] },
};

const CALLBACK = /^\/callback\/[a-z0-9][a-z0-9-]{0,31}$/;

export function signInRouteOf(method: string, path: string): SignInRoute | null {
  if (method === 'GET' && CALLBACK.test(path)) return unlimitedRoute();
  const name = `${method} ${path}`;
  return Object.hasOwn(routes, name) ? (routes[name] as SignInRoute) : null;
}

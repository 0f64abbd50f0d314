import { createHash, hkdfSync } from 'node:crypto';
import { APIError, createAuthMiddleware, getAuthoritativeSessionFromCtx } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { betterAuth } from 'better-auth/minimal';
import { genericOAuth, twoFactor } from 'better-auth/plugins';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import type { Logger } from '../../base/log.ts';
import { ApiError } from '../api/api-error.ts';
import type { Store } from '../database/store.ts';
import type { Peppers } from '../pepper.ts';
import type { AccountLimits, AccountOptions, OidcProvider } from './account-options.ts';
import { isInvited } from './invitations.ts';
import { findAdmittingProvider, joinOperator, type NewUser } from './oidc-domains.ts';
import { revokeTrustedBrowsers, signInStore } from './sign-in-store.ts';

const PURPOSE = 'solway sign-in v1';

/** Secrets for signing cookies and encrypting second factors. The current one is first: the library signs with it. */
function signInSecrets({ current, secrets }: Peppers): { version: number; value: string }[] {
  return [...secrets]
    .sort(([a], [b]) => Number(b === current) - Number(a === current))
    .map(([version, pepper]) => ({
      version,
      value: Buffer.from(hkdfSync('sha256', pepper, Buffer.alloc(0), PURPOSE, 32)).toString('base64url'),
    }));
}

/** How long used codes are stored: longer than a TOTP code is valid, including the neighboring time steps. */
const CODE_LIFE_MS = 5 * 60_000;

/** Returns false if the code was already used. */
async function markCodeUsed(store: Store, userId: string, digest: string, now: number): Promise<boolean> {
  await store.db
    .deleteFrom('auth_tried_code')
    .where('user_id', '=', userId)
    .where('tried_at', '<', now - CODE_LIFE_MS)
    .execute();
  const taken = await store.db
    .insertInto('auth_tried_code')
    .values({ user_id: userId, code_digest: digest, tried_at: now })
    .onConflict((conflict) => conflict.columns(['user_id', 'code_digest']).doNothing())
    .executeTakeFirst();
  return taken.numInsertedOrUpdatedRows === 1n;
}

export const passwordHashQueueFull = (): ApiError =>
  new ApiError(503, 'OVERLOADED', 'Too many concurrent sign-ins. Try again soon.', { retryAfter: 5 });

/** Limits concurrent password hashing, so that a flood of sign-ins leaves CPU and memory for other work. */
function passwordHashQueue({ hashesMax, hashesWaitingMax }: AccountLimits) {
  const semaphore = new Semaphore(hashesMax);
  let queued = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (queued >= hashesMax + hashesWaitingMax) throw passwordHashQueueFull();
    queued++;
    try {
      return await semaphore.run(work);
    } finally {
      queued--;
    }
  };
}

export const AUTH_PREFIX = '/api/auth';

export type SignInParts = Readonly<{
  store: Store;
  peppers: Peppers;
  options: AccountOptions;
  fallbackUrl: string;
  mailReset: ((email: string, token: string) => Promise<void>) | null;
  now: () => number;
  log: Logger;
  /** Defaults to the library's scrypt. */
  hashing?: Readonly<typeof libraryHashing>;
}>;

const libraryHashing = { hash: hashPassword, verify: verifyPassword };

const tables = {
  user: 'auth_user',
  session: 'auth_session',
  account: 'auth_account',
  verification: 'auth_verification',
  twoFactor: 'auth_two_factor',
} as const;

const providerOf = ({ id, discoveryUrl, clientId, clientSecret }: OidcProvider) => ({
  ...{ discoveryUrl, clientId, clientSecret },
  providerId: id,
  scopes: ['openid', 'email', 'profile'],
  pkce: true,
  requireIdTokenVerification: true,
});

function loggerOf(log: Logger) {
  return {
    // At levels `debug`, `warn` and `error`, the library would also write to the console.
    level: 'info' as const,
    log: (level: string, message: string) => {
      const logLine = { part: 'sign-in', said: message.slice(0, 300) };
      if (level === 'error') log.warn(logLine, 'Sign-in library error');
      else log.debug(logLine, 'Sign-in library message');
    },
  };
}

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** Finds the user as the library does: from the session, or else from the pending two-factor sign-in. */
async function userOfCode(ctx: HookContext): Promise<string | null> {
  const session = await getAuthoritativeSessionFromCtx(ctx);
  if (session !== null) return session.user.id;
  const cookie = ctx.context.createAuthCookie('two_factor');
  const pending = await ctx.getSignedCookie(cookie.name, ctx.context.secret);
  if (!pending) return null;
  return (await ctx.context.internalAdapter.findVerificationValue(pending))?.value ?? null;
}

/** Accepts each code only once, even during setup, so that an observed code cannot be reused. */
async function checkReplay(ctx: HookContext, store: Store, now: () => number): Promise<void> {
  const code: unknown = ctx.body?.code;
  if (typeof code !== 'string') return;
  const userId = await userOfCode(ctx);
  if (userId === null) return;
  const digest = createHash('sha256').update(code).digest('hex');
  if (await markCodeUsed(store, userId, digest, now())) return;
  throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE', message: 'Invalid code' });
}

/** Revoking sessions also revokes trusted browsers, which could otherwise sign in with the password alone. */
async function revokeTrustedBrowsersWithSessions(ctx: HookContext, store: Store): Promise<void> {
  const session = await getAuthoritativeSessionFromCtx(ctx);
  if (session !== null) await revokeTrustedBrowsers(store.db, session.user.id);
}

const beforeRequest = (store: Store, now: () => number) =>
  createAuthMiddleware(async (ctx) => {
    if (ctx.path === '/two-factor/verify-totp') await checkReplay(ctx, store, now);
    if (ctx.path === '/revoke-sessions' || ctx.path === '/revoke-other-sessions')
      await revokeTrustedBrowsersWithSessions(ctx, store);
  });

/** Wraps an ApiError, because the library forwards only errors of its own type. Callers convert the error back. */
function throwLibraryError(thrown: unknown): never {
  if (!(thrown instanceof ApiError)) throw thrown;
  throw new APIError('SERVICE_UNAVAILABLE', { code: thrown.code, message: thrown.message });
}

/** Requests cannot set this field: users become operators only by invitation. */
const isOperator = { type: 'boolean', required: false, defaultValue: false, input: false } as const;

/** Tokens from OIDC providers are not needed, so they are not stored. */
const withoutTokens = async <Account>(account: Account) => ({
  data: {
    ...account,
    accessToken: null,
    refreshToken: null,
    idToken: null,
    accessTokenExpiresAt: null,
    refreshTokenExpiresAt: null,
  },
});

type Reset = Readonly<{ user: Readonly<{ email: string }>; token: string }>;

type HookRequest = Readonly<{ params?: Readonly<Record<string, unknown>> | undefined }> | null;

/** Decides who may create an account. */
const userHooks = ({ store, options, now }: SignInParts, providers: readonly OidcProvider[]) => ({
  before: async (user: NewUser, request: HookRequest) => {
    const isOpen = options.signUp === 'open';
    if (isOpen || (user.emailVerified && (await isInvited(store, user.email, now())))) return;
    if (findAdmittingProvider(providers, request?.params?.id, user) !== null) return;
    throw new APIError('FORBIDDEN', { code: 'NOT_INVITED', message: 'Ask for an invitation first.' });
  },
  after: async (user: NewUser, request: HookRequest) => {
    const provider = findAdmittingProvider(providers, request?.params?.id, user);
    const { membersMax } = options.limits;
    if (provider !== null) await joinOperator(store, user, provider, { membersMax, now: now() });
  },
});

/** Configures the sign-in library to use this store. The library contacts no servers except OIDC providers. */
export function openSignInLibrary(parts: SignInParts, providers: readonly OidcProvider[]) {
  const { store, peppers, options, now, log, mailReset, hashing = libraryHashing } = parts;
  const { limits, publicUrl } = options;
  const inHashQueue = passwordHashQueue(limits);
  const baseURL = publicUrl ?? parts.fallbackUrl;
  const isSecure = baseURL.startsWith('https:');
  return betterAuth({
    appName: 'Solway',
    baseURL,
    basePath: AUTH_PREFIX,
    secrets: signInSecrets(peppers),
    database: signInStore(store, now),
    telemetry: { enabled: false },
    logger: loggerOf(log),
    // By default, the library logs errors to the console and responds with 500.
    onAPIError: { throw: true },
    // auth-guard.ts limits attempts, checks origins and restricts paths instead.
    rateLimit: { enabled: false },
    trustedOrigins: (request) => [request?.headers.get('origin') ?? baseURL],
    advanced: {
      cookiePrefix: 'solway',
      useSecureCookies: isSecure,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', secure: isSecure, path: '/' },
      disableOriginCheck: false,
      ipAddress: { disableIpTracking: false, ipAddressHeaders: [CLIENT_ADDRESS_HEADER] },
    },
    user: { modelName: tables.user, additionalFields: { isOperator } },
    session: {
      modelName: tables.session,
      expiresIn: Math.floor(limits.sessionMs / 1_000),
      updateAge: 24 * 3_600,
    },
    account: {
      modelName: tables.account,
      // Otherwise, a stranger who signs up with an address first would share the account with the address's owner.
      accountLinking: { enabled: true, disableImplicitLinking: true },
    },
    verification: { modelName: tables.verification, storeIdentifier: 'hashed' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: limits.passwordMin,
      maxPasswordLength: limits.passwordMax,
      revokeSessionsOnPasswordReset: true,
      password: {
        hash: (password) => inHashQueue(() => hashing.hash(password)).catch(throwLibraryError),
        verify: (input) => inHashQueue(() => hashing.verify(input)).catch(throwLibraryError),
      },
      ...(mailReset && { sendResetPassword: ({ user, token }: Reset) => mailReset(user.email, token) }),
    },
    plugins: [
      twoFactor({ issuer: 'Solway', schema: { twoFactor: { modelName: tables.twoFactor } } }),
      genericOAuth({ config: providers.map(providerOf) }),
    ],
    hooks: { before: beforeRequest(store, now) },
    databaseHooks: {
      user: { create: userHooks(parts, providers) },
      account: { create: { before: withoutTokens }, update: { before: withoutTokens } },
    },
  });
}

/** Set by auth-guard.ts, which overwrites any value sent by the client. */
export const CLIENT_ADDRESS_HEADER = 'x-solway-client-address';

export type SignInLibrary = ReturnType<typeof openSignInLibrary>;

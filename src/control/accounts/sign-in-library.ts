import { createHash, hkdfSync } from 'node:crypto';
import { APIError, createAuthMiddleware, getAuthoritativeSessionFromCtx } from 'better-auth/api';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { betterAuth } from 'better-auth/minimal';
import { genericOAuth, twoFactor } from 'better-auth/plugins';
import type { Logger } from '../../base/log.ts';
import { ApiError } from '../api/api-error.ts';
import type { Store } from '../database/open.ts';
import type { Peppers } from '../pepper.ts';
import type { AccountOptions, OidcProvider } from './account-options.ts';
import { isInvited } from './invitations.ts';
import { revokeTrustedBrowsers, signInStore } from './sign-in-store.ts';

const PURPOSE = 'solway sign-in v1';

/**
 * The secrets with which cookies are signed and second factors encrypted, one for each pepper and none of them the
 * pepper; the current one first. They are not stored.
 */
function signInSecrets({ current, secrets }: Peppers): { version: number; value: string }[] {
  return [...secrets]
    .sort(([a], [b]) => Number(b === current) - Number(a === current))
    .map(([version, pepper]) => ({
      version,
      value: Buffer.from(hkdfSync('sha256', pepper, Buffer.alloc(0), PURPOSE, 32)).toString('base64url'),
    }));
}

/** Longer than a code of the second factor holds, with the codes before and after it; milliseconds. */
const CODE_LIFE_MS = 5 * 60_000;

/** Takes a code for its user. @returns false when it was tried before, by whomever. */
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
  return (taken.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** More passwords are to be hashed than wait for it. */
export const passwordHashQueueFull = (): ApiError =>
  new ApiError(503, 'OVERLOADED', 'too many are signing in: try again soon', { retryAfter: 5 });

/**
 * Turns at hashing passwords, which is made to be dear: a flood of log-ins must leave cores and memory to the others.
 */
class PasswordHashQueue {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ hashesMax, hashesWaitingMax }: { hashesMax: number; hashesWaitingMax: number }) {
    this.#max = hashesMax;
    this.#waitingMax = hashesWaitingMax;
  }

  /** @throws ApiError 503 when too many wait already. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max) await this.#waitForSlot();
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #waitForSlot(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) throw passwordHashQueueFull();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** What stands before the paths of signing in. */
export const AUTH_PREFIX = '/api/auth';

export type SignInParts = Readonly<{
  store: Store;
  peppers: Peppers;
  options: AccountOptions;
  /** Where the service answers when nothing else is known, without a path. */
  fallbackUrl: string;
  /** Mails a link with which a password is set anew; null where no mail is sent. */
  mailReset: ((email: string, token: string) => Promise<void>) | null;
  now: () => number;
  log: Logger;
  /** How passwords are hashed; the library's scrypt where nothing else is said. */
  hashing?: Hashing;
}>;

type Hashing = Readonly<{
  hash(password: string): Promise<string>;
  verify(given: { hash: string; password: string }): Promise<boolean>;
}>;

/** scrypt with N = 16,384, r = 16, p = 1. */
const libraryHashing: Hashing = { hash: hashPassword, verify: verifyPassword };

/** The tables of tables/accounts.ts, by the library's names for them. */
const tables = {
  user: 'auth_user',
  session: 'auth_session',
  account: 'auth_account',
  verification: 'auth_verification',
  twoFactor: 'auth_two_factor',
} as const;

const providerOf = ({ id, name, discoveryUrl, clientId, clientSecret }: OidcProvider) => ({
  providerId: id,
  name,
  discoveryUrl,
  clientId,
  clientSecret,
  scopes: ['openid', 'email', 'profile'],
  pkce: true,
  requireIdTokenVerification: true,
});

/** What the library would say on its own goes into our log, without what it was given. */
function loggerOf(log: Logger) {
  return {
    // Any other makes the library write to the console besides.
    level: 'info' as const,
    log: (level: string, message: string) => {
      const logLine = { part: 'sign-in', said: message.slice(0, 300) };
      if (level === 'error') log.warn(logLine, 'the sign-in library reports a fault');
      else log.debug(logLine, 'the sign-in library');
    },
  };
}

type HookContext = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0];

/** Whose code is tried, found as the library does it: that of who is signed in, else of who gave a password just now. */
async function userOfCode(ctx: HookContext): Promise<string | null> {
  const session = await getAuthoritativeSessionFromCtx(ctx);
  if (session !== null) return session.user.id;
  const cookie = ctx.context.createAuthCookie('two_factor');
  const pending = await ctx.getSignedCookie(cookie.name, ctx.context.secret);
  if (!pending) return null;
  return (await ctx.context.internalAdapter.findVerificationValue(pending))?.value ?? null;
}

/** A code is taken once, that of the set-up too: whoever saw it over a shoulder comes too late. */
async function checkReplay(ctx: HookContext, store: Store, now: () => number): Promise<void> {
  const code: unknown = ctx.body?.code;
  if (typeof code !== 'string') return;
  const userId = await userOfCode(ctx);
  if (userId === null) return;
  const digest = createHash('sha256').update(code).digest('hex');
  if (await markCodeUsed(store, userId, digest, now())) return;
  throw new APIError('UNAUTHORIZED', { code: 'INVALID_CODE', message: 'Invalid code' });
}

/** Who ends all sessions means browsers that would sign in with the password alone, too. */
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

/** The library passes on refusals of its own form alone; whoever asks it makes ours of them again. */
function refuse(thrown: unknown): never {
  if (!(thrown instanceof ApiError)) throw thrown;
  throw new APIError('SERVICE_UNAVAILABLE', { code: thrown.code, message: thrown.message });
}

/** No request sets it: invitations.ts does. */
const isOperator = { type: 'boolean', required: false, defaultValue: false, input: false } as const;

/** Tokens of other services are for nothing here, so they are not kept. */
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

/** The sign-in library, set up for this service. It keeps everything in the store and asks nobody but the providers. */
export function openSignInLibrary(parts: SignInParts, providers: readonly OidcProvider[]) {
  const { store, peppers, options, now, log, mailReset, hashing = libraryHashing } = parts;
  const { limits, publicUrl } = options;
  const hashQueue = new PasswordHashQueue(limits);
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
    // What is no refusal goes to whoever asked; else the library writes it to the console and answers 500.
    onAPIError: { throw: true },
    // The door in front of it counts, checks origins and bounds paths: sign-in-door.ts.
    rateLimit: { enabled: false },
    trustedOrigins: (request) => [request?.headers.get('origin') ?? baseURL],
    advanced: {
      cookiePrefix: 'solway',
      useSecureCookies: isSecure,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', secure: isSecure, path: '/' },
      disableOriginCheck: false,
      ipAddress: { disableIpTracking: false, ipAddressHeaders: [CLIENT_ADDRESS] },
    },
    user: { modelName: tables.user, additionalFields: { isOperator } },
    session: {
      modelName: tables.session,
      expiresIn: Math.floor(limits.sessionMs / 1_000),
      updateAge: 24 * 3_600,
    },
    account: {
      modelName: tables.account,
      // Whoever registered an address first must not get the account of whoever proves to have it.
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
        hash: (password) => hashQueue.run(() => hashing.hash(password)).catch(refuse),
        verify: (given) => hashQueue.run(() => hashing.verify(given)).catch(refuse),
      },
      ...(mailReset && { sendResetPassword: ({ user, token }: Reset) => mailReset(user.email, token) }),
    },
    plugins: [
      twoFactor({ issuer: 'Solway', schema: { twoFactor: { modelName: tables.twoFactor } } }),
      genericOAuth({ config: providers.map(providerOf) }),
    ],
    hooks: { before: beforeRequest(store, now) },
    databaseHooks: {
      user: {
        create: {
          before: async (user) => {
            const isOpen = options.signUp === 'open';
            if (isOpen || (user.emailVerified && (await isInvited(store, user.email, now())))) return;
            throw new APIError('FORBIDDEN', { code: 'NOT_INVITED', message: 'ask for an invitation first' });
          },
        },
      },
      account: { create: { before: withoutTokens }, update: { before: withoutTokens } },
    },
  });
}

/** The header in which the door tells the library the client's address; what came under this name is overwritten. */
export const CLIENT_ADDRESS = 'x-solway-client-address';

export type SignInLibrary = ReturnType<typeof openSignInLibrary>;

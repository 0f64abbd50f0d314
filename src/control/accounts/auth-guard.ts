import type { Attempt } from '../../gateway/auth/attempt-limiter.ts';
import { ApiError, invalidField } from '../api/api-error.ts';
import { email as emailSchema } from '../api/contract/values.ts';
import type { RequestMetadata } from '../database/audit-entry.ts';
import { checkSameOrigin } from './same-origin.ts';
import { FailedSignInLog, SignInAttemptLimiter } from './sign-in-attempts.ts';
import {
  AUTH_PREFIX,
  CLIENT_ADDRESS_HEADER,
  passwordHashQueueFull,
  type SignInLibrary,
  type SignInParts,
} from './sign-in-library.ts';
import { type SignInRoute, signInRouteOf } from './sign-in-routes.ts';
import { currentRequest, tokenDigest } from './sign-in-store.ts';
import { signUp } from './sign-up.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export type SignInRequest = Readonly<{
  request: Request;
  address: string;
  requestId: string;
  body: JsonObject;
}>;

/** `location` is set only for redirects. */
type SignInResponse = Readonly<{
  status: number;
  body: unknown;
  cookies: readonly string[];
  location: string | null;
}>;

const USER_AGENT_MAX = 256;
/** Retry-After for status 429, in seconds: the library locks accounts for 15 minutes without reporting the duration. */
const LOCKED_S = 900;
/** Matches paths of this service. Excludes `//host` and `/\host`, which browsers resolve to another host. */
const OWN_PATH = /^\/(?![/\\])[A-Za-z0-9/_.~?=&%#:,+-]{0,512}$/;
const redirects = ['callbackURL', 'errorCallbackURL', 'newUserCallbackURL', 'redirectTo'] as const;

/** True for the statuses that the library returns for a wrong password or code. */
const isWrongCredential = (status: number): boolean => status === 401 || status === 400 || status === 403;

const provesPassword = ({ attempts, own }: SignInRoute): boolean =>
  attempts !== 'counted' || own === 'sign-up';

/** Restricts the sign-in library to known paths and fields, limits attempts, and audits failures. */
export class AuthGuard {
  readonly #parts: SignInParts;
  readonly #library: () => SignInLibrary;
  readonly #failedSignIns: FailedSignInLog;
  readonly #attempts: SignInAttemptLimiter;

  constructor(parts: SignInParts, library: () => SignInLibrary) {
    this.#parts = parts;
    this.#library = library;
    this.#failedSignIns = new FailedSignInLog(parts);
    this.#attempts = new SignInAttemptLimiter(parts.options.limits, parts.now);
  }

  stop(): Promise<void> {
    return this.#failedSignIns.stop();
  }

  async handle(signInRequest: SignInRequest): Promise<SignInResponse> {
    const { request } = signInRequest;
    const path = new URL(request.url).pathname.slice(AUTH_PREFIX.length);
    const route = signInRouteOf(request.method, path);
    if (route === null) throw new ApiError(404, 'NO_SUCH_ROUTE', 'There is no such route');
    if (request.method !== 'GET') checkSameOrigin(request, this.#parts.options.publicUrl);
    const { address, requestId } = signInRequest;
    const userAgent = request.headers.get('user-agent')?.slice(0, USER_AGENT_MAX) ?? null;
    const metadata = { address, userAgent, requestId };
    return currentRequest.run(metadata, () => this.#handleRoute(route, path, signInRequest, metadata));
  }

  async #handleRoute(
    route: SignInRoute,
    path: string,
    signInRequest: SignInRequest,
    metadata: RequestMetadata,
  ): Promise<SignInResponse> {
    const body = this.#parseBody(route, signInRequest.body);
    if (route.attempts === 'none') return this.#callLibrary(route, path, signInRequest, body);
    const account = await this.#findAccount(route, signInRequest.request, body);
    // Routes that affect other users have separate counters, so that calling them cannot block a sign-in.
    const counted = route.attempts === 'counted' ? `${path} ` : '';
    const attempt = this.#attempts.startAttempt(counted, account, signInRequest.address);
    const passwordAttempt = this.#startPasswordAttempt(route, account, signInRequest, attempt);
    try {
      const response = await this.#callLibrary(route, path, signInRequest, body);
      const isRight = response.status < 400;
      if (route.attempts === 'counted' || isWrongCredential(response.status)) attempt.fail();
      else if (isRight) attempt.succeed();
      if (isWrongCredential(response.status)) passwordAttempt?.fail();
      else if (isRight) passwordAttempt?.succeed();
      if (isRight && provesPassword(route) && account !== null)
        this.#attempts.trustSource(account, signInRequest.address);
      if (isWrongCredential(response.status))
        this.#failedSignIns.record(path, account?.slice(0, EMAIL_LENGTH_MAX) ?? null, metadata);
      return response;
    } finally {
      attempt.discard();
      passwordAttempt?.discard();
    }
  }

  /** Signing up with the address of an account tests its password, so it also counts as a sign-in attempt. */
  #startPasswordAttempt(
    route: SignInRoute,
    account: string | null,
    { address }: SignInRequest,
    attempt: Attempt,
  ): Attempt | null {
    if (route.own !== 'sign-up' || account === null) return null;
    try {
      return this.#attempts.startAttempt('', account, address);
    } catch (thrown) {
      attempt.discard();
      throw thrown;
    }
  }

  async #callLibrary(
    route: SignInRoute,
    path: string,
    signInRequest: SignInRequest,
    body: JsonObject,
  ): Promise<SignInResponse> {
    if (route.own !== 'sign-up') return this.#forward(route.path ?? path, signInRequest, body);
    const { email, password } = await signUp(this.#parts, this.#library(), body);
    return withoutOperator(await this.#forward('/sign-in/email', signInRequest, { email, password }));
  }

  async #forward(path: string, signInRequest: SignInRequest, body: JsonObject): Promise<SignInResponse> {
    const response = await this.#library().handler(libraryRequest(path, signInRequest, body));
    return this.#toSignInResponse(response, path);
  }

  async #toSignInResponse(response: Response, path: string): Promise<SignInResponse> {
    const body: unknown = await response.json().catch(() => null);
    const cookies = response.headers.getSetCookie();
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null)
      return { status: 302, body: null, cookies, location: this.#toLocalLocation(location) };
    if (response.ok) return { status: 200, body: withoutTokens(path, body), cookies, location: null };
    return { status: response.status, body: this.#withPasswordPolicy(body), cookies, location: null };
  }

  #withPasswordPolicy(body: unknown): unknown {
    const error = (body ?? {}) as LibraryError;
    if (!PASSWORD_LENGTH.test(String(error.code))) return body;
    const { passwordMin, passwordMax } = this.#parts.options.limits;
    return { ...error, message: `A password must have ${passwordMin} to ${passwordMax} characters` };
  }

  /** Keeps only path, query and fragment, to prevent redirects to other origins. */
  #toLocalLocation(location: string): string {
    const base = this.#parts.options.publicUrl ?? this.#parts.fallbackUrl;
    const url = new URL(location, base);
    if (url.pathname.startsWith(`${AUTH_PREFIX}/error`)) return `/sign-in${url.search}`;
    const path = url.pathname + url.search + url.hash;
    return OWN_PATH.test(path) ? path : '/';
  }

  #parseBody(route: SignInRoute, given: JsonObject): JsonObject {
    const body: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(given)) {
      if (!route.fields.includes(field)) throw invalidField(field.slice(0, 64), 'is an unknown field');
      if (typeof value === 'string' && value.length > FIELD_MAX) throw invalidField(field, 'is too long');
      body[field] = value;
    }
    for (const field of redirects) {
      const to = body[field];
      if (to !== undefined && (typeof to !== 'string' || !OWN_PATH.test(to)))
        throw invalidField(field, 'must be a path of this service, such as /keys');
    }
    for (const [field, { schema, message }] of Object.entries(route.checked ?? {})) {
      const parsed = schema.safeParse(body[field]);
      if (!parsed.success) throw invalidField(field, message);
      body[field] = parsed.data;
    }
    return { ...body, ...route.fixedFields?.(body) };
  }

  async #findAccount(route: SignInRoute, request: Request, body: JsonObject): Promise<string | null> {
    // Counts only valid email addresses as accounts: attackers could otherwise invent any number of names.
    if (typeof body.email === 'string') return emailSchema.safeParse(body.email).data ?? null;
    if (route.attempts !== 'session') return null;
    const session = await this.#library().api.getSession({ headers: request.headers });
    return session === null ? null : session.user.email.toLowerCase();
  }
}

const FIELD_MAX = 2_048;
const PASSWORD_LENGTH = /^PASSWORD_TOO_(?:SHORT|LONG)$/;
type LibraryError = Readonly<{ code?: unknown; message?: unknown }>;
/** Maximum length of an email address. Source: RFC 5321, 4.5.3.1.3. */
const EMAIL_LENGTH_MAX = 254;

/** @throws ApiError with the library's code and message; a plain Error for server errors other than 503 */
export function checkSignInResponse({ status, body }: SignInResponse): void {
  if (status < 400) return;
  const { code, message } = (body ?? {}) as LibraryError;
  if (status === 503) throw passwordHashQueueFull();
  if (status >= 500) throw new Error(`the sign-in library returned status ${status}`);
  const knownStatus =
    ([400, 401, 403, 404, 409, 413, 415, 422, 429] as const).find((one) => one === status) ?? 400;
  const errorCode = typeof code === 'string' ? code : 'SIGN_IN_REFUSED';
  const text = typeof message === 'string' && message !== '' ? message : 'This action failed. Sign in again.';
  throw new ApiError(knownStatus, errorCode, text, knownStatus === 429 ? { retryAfter: LOCKED_S } : {});
}

function libraryRequest(path: string, { request, address }: SignInRequest, body: JsonObject): Request {
  const url = new URL(request.url);
  url.pathname = AUTH_PREFIX + path;
  const headers = new Headers();
  for (const name of ['cookie', 'origin', 'user-agent', 'host', 'sec-fetch-site']) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  headers.set(CLIENT_ADDRESS_HEADER, address);
  if (request.method === 'GET') return new Request(url, { headers });
  // The library requires Origin, but some clients send only Sec-Fetch-Site.
  if (!headers.has('origin')) headers.set('origin', url.origin);
  headers.set('content-type', 'application/json');
  return new Request(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Omits `isOperator`: signing up with an operator invitation grants no rights until the user accepts it. */
function withoutOperator(response: SignInResponse): SignInResponse {
  const { user, ...rest } = (response.body ?? {}) as { user?: Record<string, unknown> };
  if (user === undefined) return response;
  const { isOperator: _, ...publicUser } = user;
  return { ...response, body: { ...rest, user: publicUser } };
}

type Session = { token?: string };

/** Omits tokens, because the browser has the cookie. Sessions are identified by their token digests instead. */
function withoutTokens(path: string, body: unknown): unknown {
  const withDigest = (session: Session): Session =>
    typeof session.token === 'string' ? { ...session, token: tokenDigest(session.token) } : session;
  if (path === '/list-sessions' && Array.isArray(body)) return body.map((one) => withDigest(one as Session));
  if (typeof body !== 'object' || body === null) return body;
  const { token: _, session, ...rest } = body as { token?: unknown; session?: Session };
  return session ? { ...rest, session: withDigest(session) } : rest;
}

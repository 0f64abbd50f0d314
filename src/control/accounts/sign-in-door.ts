import type { Try } from '../../access/try-limit.ts';
import { ApiError } from '../api/api-error.ts';
import { email as emailSchema } from '../api/contract/values.ts';
import { tooManyHashes } from './hash-turns.ts';
import { checkOwnOrigin } from './own-origin.ts';
import { RefusedSignIns } from './refused-sign-ins.ts';
import { currentRequest, type RequestFacts } from './request-facts.ts';
import { AUTH_PREFIX, CLIENT_ADDRESS, type SignInLibrary, type SignInParts } from './sign-in-library.ts';
import { type SignInRoute, signInRouteOf } from './sign-in-routes.ts';
import { tokenDigest } from './sign-in-store.ts';
import { SignInTries } from './sign-in-tries.ts';
import { signUp } from './sign-up.ts';

/** A request to sign in, read as far as its wire goes. */
export type SignInRequest = Readonly<{
  request: Request;
  address: string;
  requestId: string;
  /** A JSON object, or null where none was sent. */
  body: Readonly<Record<string, unknown>> | null;
}>;

/** An answer of the library in our form, or a page to go on to. */
export type SignInAnswer = Readonly<{
  status: number;
  /** JSON. */
  body: unknown;
  cookies: readonly string[];
  /** Where a browser must go on. */
  location: string | null;
}>;

const USER_AGENT_MAX = 256;
/** What the library says of an account that is locked has no time; it is a quarter of an hour. */
const LOCKED_S = 900;
/** Where a browser may be sent: a path of ours. */
const OWN_PATH = /^\/(?![/\\])[A-Za-z0-9/_.~?=&%#:,+-]{0,512}$/;
const redirects = ['callbackURL', 'errorCallbackURL', 'newUserCallbackURL', 'redirectTo'] as const;

const invalid = (field: string, text: string): ApiError =>
  new ApiError(422, 'INVALID_FIELDS', `${field}: ${text}`, { fields: { [field]: text } });

/** The word and the status with which the library refuses a password or a code. */
const isWrong = (status: number): boolean => status === 401 || status === 400 || status === 403;

/** Whether an answer without a fault says that the account's password, or a code besides, was right. */
const provesPassword = ({ tries, own }: SignInRoute): boolean => tries !== 'counted' || own === 'sign-up';

/**
 * Stands in front of the sign-in library: knows which of its paths there are, sends away what comes from another
 * origin, bounds how often may be tried, and tells the audit log of what went wrong.
 */
export class SignInDoor {
  readonly #parts: SignInParts;
  readonly #library: () => SignInLibrary;
  readonly #refused: RefusedSignIns;
  readonly #tries: SignInTries;

  constructor(parts: SignInParts, library: () => SignInLibrary) {
    this.#parts = parts;
    this.#library = library;
    this.#refused = new RefusedSignIns(parts);
    this.#tries = new SignInTries(parts.options.limits, parts.now);
  }

  /** Writes what the audit log is yet to hear of. Never rejects. */
  stop(): Promise<void> {
    return this.#refused.stop();
  }

  /** @throws ApiError */
  async answer(asked: SignInRequest): Promise<SignInAnswer> {
    const { request } = asked;
    const path = new URL(request.url).pathname.slice(AUTH_PREFIX.length);
    const route = signInRouteOf(request.method, path);
    if (route === null) throw new ApiError(404, 'NO_SUCH_ROUTE', 'nothing answers here');
    if (request.method !== 'GET') checkOwnOrigin(request, this.#parts.options.publicUrl);
    const facts = this.#factsOf(asked);
    return currentRequest.run(facts, () => this.#tryAt(route, path, asked, facts));
  }

  async #tryAt(
    route: SignInRoute,
    path: string,
    asked: SignInRequest,
    facts: RequestFacts,
  ): Promise<SignInAnswer> {
    const body = this.#bodyOf(route, asked.body);
    if (route.tries === 'none') return this.#ask(route, path, asked, body);
    const account = await this.#accountOf(route, asked.request, body);
    // What costs others something is counted apart: it must not keep anybody from signing in.
    const counted = route.tries === 'counted' ? `${path} ` : '';
    const tried = this.#tries.begin(counted, account, asked.address);
    const guessed = this.#guessBy(route, account, asked, tried);
    try {
      const answer = await this.#ask(route, path, asked, body);
      const isRight = answer.status < 400;
      if (route.tries === 'counted' || isWrong(answer.status)) tried.wrong();
      else if (isRight) tried.right();
      if (isWrong(answer.status)) guessed?.wrong();
      else if (isRight) guessed?.right();
      if (isRight && provesPassword(route) && account !== null) this.#tries.signedIn(account, asked.address);
      if (isWrong(answer.status)) this.#refused.note(path, account?.slice(0, ACCOUNT_MAX) ?? null, facts);
      return answer;
    } finally {
      tried.void();
      guessed?.void();
    }
  }

  /** Who signs up with an address that has an account tries its password: as many times as at sign-in, all together. */
  #guessBy(route: SignInRoute, account: string | null, { address }: SignInRequest, tried: Try): Try | null {
    if (route.own !== 'sign-up' || account === null) return null;
    try {
      return this.#tries.begin('', account, address);
    } catch (thrown) {
      tried.void();
      throw thrown;
    }
  }

  async #ask(
    route: SignInRoute,
    path: string,
    asked: SignInRequest,
    body: Readonly<Record<string, unknown>>,
  ): Promise<SignInAnswer> {
    if (route.own === 'sign-up') {
      const { email, password } = await signUp(this.#parts, this.#library(), body);
      const path = '/sign-in/email';
      return withoutOperator(
        await this.#answerOf(await this.#forward(path, asked, { email, password }), path),
      );
    }
    return this.#answerOf(await this.#forward(route.path ?? path, asked, body), path);
  }

  #forward(
    path: string,
    { request, address }: SignInRequest,
    body: Readonly<Record<string, unknown>>,
  ): Promise<Response> {
    const url = new URL(request.url);
    url.pathname = AUTH_PREFIX + path;
    const headers = new Headers();
    for (const name of ['cookie', 'origin', 'user-agent', 'host', 'sec-fetch-site']) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    headers.set(CLIENT_ADDRESS, address);
    if (request.method === 'GET') return this.#library().handler(new Request(url, { headers }));
    // Some clients send only where they come from within the site; the library wants the origin spelt out.
    if (!headers.has('origin')) headers.set('origin', url.origin);
    headers.set('content-type', 'application/json');
    return this.#library().handler(new Request(url, { method: 'POST', headers, body: JSON.stringify(body) }));
  }

  async #answerOf(response: Response, path: string): Promise<SignInAnswer> {
    const text = await response.text();
    const body: unknown = text === '' ? null : parsed(text);
    const cookies = response.headers.getSetCookie();
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null)
      return { status: 302, body: null, cookies, location: this.#ownLocation(location) };
    if (response.ok) return { status: 200, body: withoutTokens(path, body), cookies, location: null };
    return { status: response.status, body: this.#told(body), cookies, location: null };
  }

  /** The library says of a password that it is too short or too long, and not what it must be. */
  #told(body: unknown): unknown {
    if (typeof body !== 'object' || body === null || !PASSWORD_LENGTH.test(String((body as Refusal).code)))
      return body;
    const { passwordMin, passwordMax } = this.#parts.options.limits;
    return { ...body, message: `a password has ${passwordMin} to ${passwordMax} characters` };
  }

  /** Of an error page of the library the page of ours; back from a provider only into this service. */
  #ownLocation(location: string): string {
    const base = this.#parts.options.publicUrl ?? this.#parts.fallbackUrl;
    const url = new URL(location, base);
    if (url.pathname.startsWith(`${AUTH_PREFIX}/error`)) return `/sign-in${url.search}`;
    const path = url.pathname + url.search + url.hash;
    return OWN_PATH.test(path) ? path : '/';
  }

  /** @throws ApiError 422 */
  #bodyOf(
    route: SignInRoute,
    given: Readonly<Record<string, unknown>> | null,
  ): Readonly<Record<string, unknown>> {
    const body: Record<string, unknown> = {};
    for (const [field, value] of Object.entries(given ?? {})) {
      if (!route.fields.includes(field)) throw invalid(field.slice(0, 64), 'there is no such field here');
      if (typeof value === 'string' && value.length > FIELD_MAX) throw invalid(field, 'is too long');
      body[field] = value;
    }
    for (const field of redirects) {
      const to = body[field];
      if (to !== undefined && (typeof to !== 'string' || !OWN_PATH.test(to)))
        throw invalid(field, 'must be a path of this service, such as /keys');
    }
    for (const [field, { schema, says }] of Object.entries(route.checked ?? {})) {
      const parsed = schema.safeParse(body[field]);
      if (!parsed.success) throw invalid(field, says);
      body[field] = parsed.data;
    }
    return { ...body, ...route.fixed?.(body) };
  }

  /** Whose password or code is tried. */
  async #accountOf(
    route: SignInRoute,
    request: Request,
    body: Readonly<Record<string, unknown>>,
  ): Promise<string | null> {
    // What is no address is no account: names that anybody makes up are not remembered.
    if (typeof body.email === 'string') return emailSchema.safeParse(body.email).data ?? null;
    if (route.tries !== 'session') return null;
    const session = await this.#library().api.getSession({ headers: request.headers });
    return session === null ? null : session.user.email.toLowerCase();
  }

  #factsOf({ request, address, requestId }: SignInRequest): RequestFacts {
    const userAgent = request.headers.get('user-agent')?.slice(0, USER_AGENT_MAX) ?? null;
    return { address, userAgent, requestId };
  }
}

const FIELD_MAX = 2_048;
const PASSWORD_LENGTH = /^PASSWORD_TOO_(?:SHORT|LONG)$/;
type Refusal = Readonly<{ code?: unknown }>;
/** Characters of an address of mail. Source: RFC 5321, 4.5.3.1.3. */
const ACCOUNT_MAX = 254;

/** @throws ApiError with the library's own word and text; of faults that are ours, neither. */
export function checkSignInAnswer({ status, body }: SignInAnswer): void {
  if (status < 400) return;
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
  if (status === 503) throw tooManyHashes();
  if (status >= 500) throw new Error(`the sign-in library answers ${status}`);
  const known = ([400, 401, 403, 404, 409, 413, 415, 422, 429] as const).find((one) => one === status) ?? 400;
  const word = typeof code === 'string' ? code : 'SIGN_IN_REFUSED';
  const text = typeof message === 'string' && message !== '' ? message : 'this cannot be done: sign in again';
  throw new ApiError(known, word, text, known === 429 ? { retryAfter: LOCKED_S } : {});
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whoever signs up by an operator's link is the operator once the invitation is accepted: /api/v1/me says so then. */
function withoutOperator(answer: SignInAnswer): SignInAnswer {
  const { user, ...rest } = (answer.body ?? {}) as { user?: Record<string, unknown> };
  if (user === undefined) return answer;
  const { isOperator: _, ...shown } = user;
  return { ...answer, body: { ...rest, user: shown } };
}

type Session = { token?: string };

/** A page needs no token: its browser has the cookie. Sessions are named by the digest that is kept of theirs. */
function withoutTokens(path: string, body: unknown): unknown {
  const named = (session: Session): Session =>
    typeof session.token === 'string' ? { ...session, token: tokenDigest(session.token) } : session;
  if (path === '/list-sessions' && Array.isArray(body)) return body.map((one) => named(one as Session));
  if (typeof body !== 'object' || body === null) return body;
  const { token: _, session, ...rest } = body as { token?: unknown; session?: Session };
  return session ? { ...rest, session: named(session) } : rest;
}

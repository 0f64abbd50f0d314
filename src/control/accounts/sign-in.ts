import { AttemptLimiter } from '../../gateway/auth/attempt-limiter.ts';
import { ApiError } from '../api/api-error.ts';
import type { ApiCaller } from '../api/handler.ts';
import type { OidcProvider } from './account-options.ts';
import { findAdminToken } from './admin-tokens.ts';
import { AuthGuard } from './auth-guard.ts';
import { checkSameOrigin } from './same-origin.ts';
import { startAttempt, subnetOf } from './sign-in-attempts.ts';
import { openSignInLibrary, type SignInLibrary, type SignInParts } from './sign-in-library.ts';

/** How long a provider may take to say what it offers, and how long until it is asked again; milliseconds. */
const DISCOVERY_TIMEOUT_MS = 5_000;
const DISCOVERY_RETRY_MS = 30_000;

/** Any other scheme is none of ours: a proxy in front may ask for a password of its own. */
const BEARER = /^Bearer(?: +(.*))?$/i;

/**
 * Signing in, and who sent a request. Providers of OpenID Connect join once they answer, so that one which is away keeps
 * nobody else from signing in.
 */
export class SignIn {
  readonly guard: AuthGuard;
  readonly #parts: SignInParts;
  readonly #failedTokenLimit: AttemptLimiter;
  #library: SignInLibrary;
  #activeProviders: readonly OidcProvider[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#library = openSignInLibrary(parts, []);
    this.#failedTokenLimit = new AttemptLimiter(parts.options.limits.addressTries, parts.now);
    this.guard = new AuthGuard(parts, () => this.#library);
  }

  /** Asks the providers what they offer, again and again until each has answered. */
  async start(): Promise<void> {
    await this.#discoverProviders();
  }

  stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    return this.guard.stop();
  }

  async #discoverProviders(): Promise<void> {
    const { oidc } = this.#parts.options;
    const missing = oidc.filter((provider) => !this.#activeProviders.includes(provider));
    const found = await Promise.all(
      missing.map(async (one) => ((await isProviderReachable(one)) ? [one] : [])),
    );
    if (found.flat().length > 0) {
      this.#activeProviders = [...this.#activeProviders, ...found.flat()];
      this.#library = openSignInLibrary(this.#parts, this.#activeProviders);
    }
    const unavailable = oidc
      .filter((provider) => !this.#activeProviders.includes(provider))
      .map(({ id }) => id);
    if (unavailable.length === 0) return;
    this.#parts.log.warn(
      { providers: unavailable },
      'providers of OpenID Connect do not answer; they are asked again',
    );
    this.#timer = setTimeout(() => void this.#discoverProviders(), DISCOVERY_RETRY_MS).unref();
  }

  /**
   * Who sent a request: by its token, else by its cookie.
   * @throws ApiError 401 for a token that is none, 403 for a change that another page sent, 429 for too many wrong tokens.
   */
  async identify(request: Request, address: string): Promise<ApiCaller> {
    const bearer = BEARER.exec(request.headers.get('authorization') ?? '');
    if (bearer !== null) return this.#identifyToken(bearer[1] ?? '', address);
    if (!request.headers.has('cookie')) return { kind: 'nobody' };
    const session = await this.#library.api.getSession({
      headers: request.headers,
      query: { disableRefresh: true },
    });
    if (session === null) return { kind: 'nobody' };
    if (request.method !== 'GET' && request.method !== 'HEAD')
      checkSameOrigin(request, this.#parts.options.publicUrl);
    const { id, email, isOperator } = session.user;
    return { kind: 'user', userId: id, email, isOperator: isOperator === true };
  }

  /** A good one is let through whatever was sent from its address: nobody guesses 187 bits, but some share an address. */
  async #identifyToken(text: string, address: string): Promise<ApiCaller> {
    const { store, peppers, now } = this.#parts;
    const row = await findAdminToken(store, peppers, text, now());
    if (row !== null) return { kind: 'token', tokenId: row.id, customerId: row.customer_id, role: row.role };
    startAttempt(this.#failedTokenLimit, subnetOf(address)).fail();
    throw new ApiError(
      401,
      'WRONG_TOKEN',
      'this is no token that works: make one under Settings, or sign in',
    );
  }
}

async function isProviderReachable({ discoveryUrl }: OidcProvider): Promise<boolean> {
  try {
    const response = await fetch(discoveryUrl, { signal: AbortSignal.timeout(DISCOVERY_TIMEOUT_MS) });
    const document = (await response.json()) as { authorization_endpoint?: unknown };
    return response.ok && typeof document.authorization_endpoint === 'string';
  } catch {
    return false;
  }
}

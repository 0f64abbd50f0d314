import { subnetOf } from '../../base/ip-address.ts';
import { AttemptLimiter } from '../../gateway/auth/attempt-limiter.ts';
import { unauthorized } from '../api/api-error.ts';
import type { ApiCaller } from '../api/handler.ts';
import type { OidcProvider } from './account-options.ts';
import { findControlToken } from './admin-tokens.ts';
import { AuthGuard } from './auth-guard.ts';
import { discover } from './oidc-discovery.ts';
import { ProviderTokens } from './provider-tokens.ts';
import { checkSameOrigin } from './same-origin.ts';
import { startAttempt } from './sign-in-attempts.ts';
import { openSignInLibrary, type SignInLibrary, type SignInParts } from './sign-in-library.ts';

const DISCOVERY_RETRY_MS = 30_000;

/** Other authorization schemes are ignored: a proxy in front of the service may use them. */
const BEARER = /^Bearer(?: +(.*))?$/i;

/** Authenticates users and tokens. Adds an OIDC provider only once it responds: an outage must not block sign-ins. */
export class SignIn {
  readonly guard: AuthGuard;
  readonly #parts: SignInParts;
  readonly #failedTokenLimit: AttemptLimiter;
  readonly #providerTokens: ProviderTokens;
  #library: SignInLibrary;
  #activeProviders: readonly OidcProvider[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#library = openSignInLibrary(parts, []);
    this.#failedTokenLimit = new AttemptLimiter(parts.options.limits.addressAttempts, parts.now);
    const { store, options, log } = parts;
    this.#providerTokens = new ProviderTokens({ store, providers: options.oidc, log });
    this.guard = new AuthGuard(parts, () => this.#library);
  }

  /** Discovers the OIDC providers. Retries in the background until all have responded. */
  async start(): Promise<void> {
    const { oidc } = this.#parts.options;
    const missing = oidc.filter((provider) => !this.#activeProviders.includes(provider));
    const discoveries = await Promise.all(missing.map(discover));
    if (this.#isStopped) return;
    const found = missing.filter((_, index) => discoveries[index] !== null);
    if (found.length > 0) {
      this.#activeProviders = [...this.#activeProviders, ...found];
      this.#library = openSignInLibrary(this.#parts, this.#activeProviders);
    }
    await Promise.all(
      missing.map(async (provider, index) => {
        const discovery = discoveries[index] ?? null;
        if (discovery !== null) await this.#providerTokens.add(provider, discovery.tokenIssuer);
      }),
    );
    const unavailable = missing.filter((provider) => !found.includes(provider)).map(({ id }) => id);
    if (unavailable.length === 0) return;
    this.#parts.log.warn({ providers: unavailable }, 'OpenID Connect discovery failed; retrying');
    this.#timer = setTimeout(() => void this.start(), DISCOVERY_RETRY_MS).unref();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#providerTokens.stop();
    return this.guard.stop();
  }

  /**
   * Authenticates by bearer token, or else by cookie.
   * @throws ApiError 401 for an invalid token, 403 for a cross-origin write, 429 for too many failed attempts
   */
  async identify(request: Request, address: string): Promise<ApiCaller> {
    const bearer = BEARER.exec(request.headers.get('authorization') ?? '');
    if (bearer !== null) return this.#identifyToken(bearer[1] ?? '', address);
    if (!request.headers.has('cookie')) return { kind: 'anonymous' };
    const session = await this.#library.api.getSession({
      headers: request.headers,
      query: { disableRefresh: true },
    });
    if (session === null) return { kind: 'anonymous' };
    if (request.method !== 'GET' && request.method !== 'HEAD')
      checkSameOrigin(request, this.#parts.options.publicUrl);
    const { id, email, isOperator } = session.user;
    return { kind: 'user', userId: id, email, isOperator: isOperator === true, hasSession: true };
  }

  /** Failures from a shared address do not block valid tokens, because neither random tokens nor signatures can be guessed. */
  async #identifyToken(text: string, address: string): Promise<ApiCaller> {
    const { store, peppers, now } = this.#parts;
    const row = await findControlToken(store, peppers, text, now());
    if (row !== null) return { kind: 'token', tokenId: row.id, customerId: row.customer_id, role: row.role };
    const user = await this.#providerTokens.identify(text, now());
    if (user !== null) return user;
    startAttempt(this.#failedTokenLimit, subnetOf(address)).fail();
    throw unauthorized('WRONG_TOKEN', 'The token is not valid. Create one under Settings, or sign in.');
  }
}

import { ApiError } from '../api/api-error.ts';
import type { ApiCaller } from '../api/handler.ts';
import { TryLimit } from '../semi-wallets/try-limit.ts';
import type { OidcProvider } from './account-options.ts';
import { findAdminToken } from './admin-tokens.ts';
import { checkOwnOrigin } from './own-origin.ts';
import { beginTry, SignInDoor } from './sign-in-door.ts';
import { openSignInLibrary, type SignInLibrary, type SignInParts } from './sign-in-library.ts';

/** How long a provider may take to say what it offers, and how long until it is asked again; milliseconds. */
const DISCOVERY_TIMEOUT_MS = 5_000;
const DISCOVERY_RETRY_MS = 30_000;

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Signing in, and who sent a request. Providers of OpenID Connect join once they answer, so that one which is away keeps
 * nobody else from signing in.
 */
export class SignIn {
  readonly door: SignInDoor;
  readonly #parts: SignInParts;
  readonly #wrongTokens: TryLimit;
  #library: SignInLibrary;
  #joined: readonly OidcProvider[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#library = openSignInLibrary(parts, []);
    this.#wrongTokens = new TryLimit(parts.options.limits.addressTries, parts.now);
    this.door = new SignInDoor(parts, () => this.#library);
  }

  /** Asks the providers what they offer, again and again until each has answered. */
  async start(): Promise<void> {
    await this.#lookForProviders();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #lookForProviders(): Promise<void> {
    const { oidc } = this.#parts.options;
    const missing = oidc.filter((provider) => !this.#joined.includes(provider));
    const found = await Promise.all(missing.map(async (one) => ((await answers(one)) ? [one] : [])));
    if (found.flat().length > 0) {
      this.#joined = [...this.#joined, ...found.flat()];
      this.#library = openSignInLibrary(this.#parts, this.#joined);
    }
    const away = oidc.filter((provider) => !this.#joined.includes(provider)).map(({ id }) => id);
    if (away.length === 0) return;
    this.#parts.log.warn(
      { providers: away },
      'providers of OpenID Connect do not answer; they are asked again',
    );
    this.#timer = setTimeout(() => void this.#lookForProviders(), DISCOVERY_RETRY_MS).unref();
  }

  /**
   * Who sent a request: by its token, else by its cookie.
   * @throws ApiError 401 for a token that is none, 403 for a change that another page sent, 429 for too many wrong tokens.
   */
  async identify(request: Request, address: string): Promise<ApiCaller> {
    const authorization = request.headers.get('authorization');
    if (authorization !== null) return this.#ofToken(authorization, address);
    if (!request.headers.has('cookie')) return { kind: 'nobody' };
    const session = await this.#library.api.getSession({
      headers: request.headers,
      query: { disableRefresh: true },
    });
    if (session === null) return { kind: 'nobody' };
    if (request.method !== 'GET' && request.method !== 'HEAD')
      checkOwnOrigin(request, this.#parts.options.publicUrl);
    const { id, email, isOperator } = session.user;
    return { kind: 'user', userId: id, email, isOperator: isOperator === true };
  }

  async #ofToken(authorization: string, address: string): Promise<ApiCaller> {
    const { store, peppers, now } = this.#parts;
    const text = BEARER.exec(authorization)?.[1] ?? '';
    const tried = beginTry(this.#wrongTokens, address);
    try {
      const row = await findAdminToken(store, peppers, text, now());
      if (row !== null)
        return { kind: 'token', tokenId: row.id, customerId: row.customer_id, role: row.role };
      tried.wrong();
      throw new ApiError(
        401,
        'WRONG_TOKEN',
        'this is no token that works: make one under Settings, or sign in',
      );
    } finally {
      tried.void();
    }
  }
}

async function answers({ discoveryUrl }: OidcProvider): Promise<boolean> {
  try {
    const response = await fetch(discoveryUrl, { signal: AbortSignal.timeout(DISCOVERY_TIMEOUT_MS) });
    const document = (await response.json()) as { authorization_endpoint?: unknown };
    return response.ok && typeof document.authorization_endpoint === 'string';
  } catch {
    return false;
  }
}

import { TryLimit } from '../../access/try-limit.ts';
import { ApiError } from '../api/api-error.ts';
import type { ApiCaller } from '../api/handler.ts';
import type { OidcProvider } from './account-options.ts';
import { findAdminToken } from './admin-tokens.ts';
import { checkOwnOrigin } from './own-origin.ts';
import { SignInDoor } from './sign-in-door.ts';
import { openSignInLibrary, type SignInLibrary, type SignInParts } from './sign-in-library.ts';
import { beginTry, siteOf } from './sign-in-tries.ts';

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

  stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    return this.door.stop();
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
    const bearer = BEARER.exec(request.headers.get('authorization') ?? '');
    if (bearer !== null) return this.#ofToken(bearer[1] ?? '', address);
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

  /** A good one is let through whatever was sent from its address: nobody guesses 187 bits, but some share an address. */
  async #ofToken(text: string, address: string): Promise<ApiCaller> {
    const { store, peppers, now } = this.#parts;
    const row = await findAdminToken(store, peppers, text, now());
    if (row !== null) return { kind: 'token', tokenId: row.id, customerId: row.customer_id, role: row.role };
    beginTry(this.#wrongTokens, siteOf(address)).wrong();
    throw new ApiError(
      401,
      'WRONG_TOKEN',
      'this is no token that works: make one under Settings, or sign in',
    );
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

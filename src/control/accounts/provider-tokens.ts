import type { Logger } from '../../base/log.ts';
import { JwksClient } from '../../gateway/auth/jwks.ts';
import { JwtVerifier } from '../../gateway/auth/jwt.ts';
import { ApiError, forbidden, unauthorized } from '../api/api-error.ts';
import type { ApiCaller } from '../api/handler.ts';
import type { Store } from '../database/store.ts';
import type { OidcProvider } from './account-options.ts';
import type { TokenIssuer } from './oidc-discovery.ts';

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Source: OpenID Connect Core 1.0, 2. */
const SUBJECT_LENGTH_MAX = 255;

/** PostgreSQL cannot compare texts with NUL. */
export const isValidSubject = (text: string): boolean =>
  text !== '' && text.length <= SUBJECT_LENGTH_MAX && !text.includes('\0') && text.isWellFormed();

type Issuer = Readonly<{ provider: OidcProvider; keys: JwksClient; verifier: JwtVerifier<string> }>;

type ProviderTokensParts = Readonly<{ store: Store; providers: readonly OidcProvider[]; log: Logger }>;

/** Accepts JWTs of OpenID Connect providers that have a `tokenAudience`, for the users linked to their subjects. */
export class ProviderTokens {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #undiscovered: Set<OidcProvider>;
  readonly #issuers: Issuer[] = [];

  constructor({ store, providers, log }: ProviderTokensParts) {
    this.#store = store;
    this.#log = log;
    this.#undiscovered = new Set(providers.filter(({ tokenAudience }) => tokenAudience !== null));
  }

  /** Accepts the provider's tokens once its keys have been read. Never rejects. */
  async add(provider: OidcProvider, found: TokenIssuer | null): Promise<void> {
    const { id, tokenAudience: audience } = provider;
    if (audience === null) return;
    this.#undiscovered.delete(provider);
    if (found === null) {
      const problem =
        'its discovery URL is redirected, or its document names another issuer or keys without https';
      this.#log.error({ provider: id, problem }, 'Tokens of an OpenID Connect provider are rejected');
      return;
    }
    const keys = new JwksClient(found.jwksUrl, this.#log);
    const parse = (text: string): string | null => (isValidSubject(text) ? text : null);
    const rules = { issuer: found.issuer, audience, claim: 'sub', parse };
    this.#issuers.push({ provider, keys, verifier: new JwtVerifier(rules, keys) });
    await keys.start();
  }

  stop(): void {
    for (const { keys } of this.#issuers) keys.stop();
  }

  /**
   * Returns the user for whom a provider issued the token; null if none did.
   * @throws ApiError 401 for an expired token, 403 for a subject without a user, 503 while keys are missing
   */
  async identify(token: string, now: number): Promise<ApiCaller | null> {
    if (!JWT.test(token)) return null;
    for (const { provider, verifier } of this.#issuers) {
      const verified = verifier.verify(token, now);
      if (verified === 'expired')
        throw unauthorized('TOKEN_EXPIRED', 'The token has expired. Request a new one from its issuer.');
      if (verified !== null) return this.#findUser(provider, verified.subject);
    }
    if (this.#undiscovered.size === 0 && this.#issuers.every(({ verifier }) => verifier.isReady)) return null;
    throw new ApiError(503, 'ISSUER_UNAVAILABLE', "The issuer's keys could not be read. Try again soon.", {
      retryAfter: 5,
    });
  }

  async #findUser({ id, name }: OidcProvider, subject: string): Promise<ApiCaller> {
    const row = await this.#store.db
      .selectFrom('auth_account')
      .innerJoin('auth_user', 'auth_user.id', 'auth_account.userId')
      .select(['auth_user.id', 'auth_user.email', 'auth_user.isOperator'])
      .where('auth_account.providerId', '=', id)
      .where('auth_account.accountId', '=', subject)
      .executeTakeFirst();
    if (row === undefined)
      throw forbidden(
        'NOT_LINKED',
        `No account is linked to this identity. Sign in with ${name} first, or ask an operator to link a machine.`,
      );
    const { id: userId, email, isOperator } = row;
    return { kind: 'user', userId, email, isOperator: isOperator === 1, hasSession: false };
  }
}

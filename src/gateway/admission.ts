import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import type { Caller, LimitStatus } from '../protocol/request-handler.ts';
import { FailedAuthLimiter } from './auth/failed-auth-limiter.ts';
import { isUsable, KEY_NO_LONGER_VALID, type KeyDirectory } from './auth/key-directory.ts';
import type { KeyId, KeyRecord } from './auth/key-record.ts';
import { checkMethod, type KeyUse, refusalOf } from './auth/key-rules.ts';
import { QuotaLedger } from './limits/quota.ts';
import { type RateDecision, RateLimiter } from './limits/rate-limiter.ts';
import { priceOf } from './metering/price.ts';
import type { RequestContext } from './request-context.ts';

export type AdmissionParts = Readonly<{
  keys: KeyDirectory;
  limiter?: RateLimiter;
  quota?: QuotaLedger;
  failedAuthLimiter?: FailedAuthLimiter;
  /** The rates of single addresses that use public keys. */
  addressLimiter?: RateLimiter;
}>;

/**
 * The one place that says who may come in, and in which order that is asked: whether too many wrong keys came from
 * there, whose key it is, whether it is for this product, for this network, from this address and for this page; then,
 * call by call, whether it is for this method, whether credits are left, and whether the address and the key are within
 * their rates.
 */
export class Admission {
  readonly keys: KeyDirectory;
  readonly #limiter: RateLimiter;
  readonly #quota: QuotaLedger;
  readonly #failedAuthLimiter: FailedAuthLimiter;
  readonly #addressLimiter: RateLimiter;

  constructor({ keys, limiter, quota, failedAuthLimiter, addressLimiter }: AdmissionParts) {
    this.keys = keys;
    this.#limiter = limiter ?? new RateLimiter();
    this.#quota = quota ?? new QuotaLedger();
    this.#failedAuthLimiter = failedAuthLimiter ?? new FailedAuthLimiter();
    this.#addressLimiter = addressLimiter ?? new RateLimiter();
  }

  /**
   * Finds out who asks, and notes it in the visit.
   * @param product - null for any.
   * @param network - null where the request names it later.
   * @throws Failure TOO_MANY_WRONG_KEYS, MISSING_KEY, INVALID_KEY, KEYS_UNAVAILABLE, UNAUTHORIZED_PRODUCT,
   * NETWORK_FORBIDDEN, ADDRESS_FORBIDDEN, ORIGIN_FORBIDDEN.
   */
  authenticate(
    caller: Caller,
    product: Product | null,
    network: Network | null,
    context: RequestContext,
  ): KeyRecord {
    this.#failedAuthLimiter.check(caller.client, context.startedAt);
    const key = this.#findKey(caller, context.startedAt);
    context.key = key;
    if (product !== null && key.product !== product) throw new Failure('UNAUTHORIZED_PRODUCT');
    return this.#checkKeyUse(key, { client: caller.client, network }, context);
  }

  /**
   * The same for a connection that was let in with a key: as the key is now.
   * @throws Failure INVALID_KEY, NETWORK_FORBIDDEN, ADDRESS_FORBIDDEN, ORIGIN_FORBIDDEN.
   */
  reauthenticate(id: KeyId, use: KeyUse, context: RequestContext): KeyRecord {
    const key = this.keys.find(id);
    if (key === undefined || !isUsable(key, Date.now())) throw new Failure('INVALID_KEY');
    context.key = key;
    return this.#checkKeyUse(key, use, context);
  }

  /**
   * Whether the key of a visit may be used for it, and whether credits are left.
   * @param method - null for what is none: a connection.
   * @param cost - credits by the table of what was asked; they are held until the request has ended.
   * @param counted - the name under which it is charged, where that is another.
   * @throws Failure METHOD_FORBIDDEN, QUOTA_EXCEEDED.
   */
  authorize(context: RequestContext, method: string | null, cost = 0, meteredAs = method): void {
    const { key } = context;
    if (key === null) throw new Failure('INTERNAL', { cause: 'asked before it is known whose it is' });
    if (method !== null) checkMethod(key, method);
    const price = meteredAs === null ? 0 : priceOf(key.limits, meteredAs, cost);
    this.#quota.reserve(key, Date.now(), price);
    context.reservedCredits = price;
  }

  /**
   * Holds more credits for a request that was permitted, as what it asks for adds up. It goes on in any case; those that
   * come later find them taken.
   * @param cost - credits by the table, in all.
   */
  reserveMore(context: RequestContext, meteredAs: string, cost: number): void {
    const { key } = context;
    const price = key === null ? 0 : priceOf(key.limits, meteredAs, cost);
    if (key === null || price <= context.reservedCredits) return;
    this.#quota.reserveMore(key, Date.now(), price - context.reservedCredits);
    context.reservedCredits = price;
  }

  /**
   * Takes calls from the rates of the address, where the key has such, and of the key. The address comes first: what one
   * address asks too much takes nothing from the others.
   * @throws Failure RATE_LIMITED
   */
  consumeRate(context: RequestContext, calls = 1): void {
    const { key } = context;
    if (key === null) return;
    const nowMs = performance.now();
    this.consumeAddressRate(context, calls, nowMs);
    this.#recordDecision(
      context,
      this.#limiter.take(key.familyId, key.limits, nowMs, calls, key.keyState),
      nowMs,
    );
  }

  /** Where the caller stands, to be shown with the answer. */
  limitStatus({ key, rateDecision }: RequestContext): LimitStatus {
    return {
      rateLimit: rateDecision?.state ?? null,
      quota: key === null ? null : this.#quota.status(key, Date.now()),
    };
  }

  /**
   * Takes calls from the rate of the address alone, where the key has such.
   * @param nowMs - `performance.now()`.
   * @throws Failure RATE_LIMITED
   */
  consumeAddressRate(context: RequestContext, calls = 1, nowMs = performance.now()): void {
    const { key, client } = context;
    if (key === null || key.addressPerSecond === null) return;
    const bucketKey = `${key.familyId} ${client.ip?.site ?? ''}`;
    const rate = { rpcPerSecond: key.addressPerSecond, rpcBurst: key.addressPerSecond };
    this.#recordDecision(context, this.#addressLimiter.take(bucketKey, rate, nowMs, calls), nowMs);
  }

  #recordDecision(context: RequestContext, decision: RateDecision | null, nowMs: number): void {
    context.rateDecision = decision;
    if (decision !== null && !decision.allowed) throw rateLimited(decision);
    context.limitedAt = nowMs;
  }

  #findKey({ credential, client }: Caller, nowMs: number): KeyRecord {
    try {
      return this.keys.authenticate(credential, Date.now());
    } catch (thrown) {
      if (countsAsFailedAuth(thrown)) this.#failedAuthLimiter.recordFailure(client, nowMs);
      throw thrown;
    }
  }

  #checkKeyUse(key: KeyRecord, use: KeyUse, context: RequestContext): KeyRecord {
    const refusal = refusalOf(key, use);
    if (refusal !== null) throw refusal;
    context.authenticatedAt = performance.now();
    return key;
  }
}

/** The refusal of a limit on calls, with where the caller stands and when to come again. */
export const rateLimited = ({ state, retryAfter }: RateDecision): Failure =>
  new Failure('RATE_LIMITED', { facts: { ...state }, retryAfter });

/** Whether a refusal counts as a wrong key: one that has ended does not, or one stale worker would lock out its neighbours. */
const countsAsFailedAuth = (thrown: unknown): boolean =>
  thrown instanceof Failure && thrown.code === 'INVALID_KEY' && thrown.cause !== KEY_NO_LONGER_VALID;

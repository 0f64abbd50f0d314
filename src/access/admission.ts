import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import type { Product } from '../protocol/product.ts';
import type { Caller, LimitFacts } from '../protocol/serve.ts';
import { isUsable, KEY_ENDED, type KeyDirectory } from './key-directory.ts';
import type { KeyId, KeyRecord } from './key-record.ts';
import { checkMethod, type KeyUse, refusalOf } from './key-rules.ts';
import { priceOf } from './price.ts';
import { QuotaLedger } from './quota.ts';
import { type RateDecision, RateLimiter } from './rate-limit.ts';
import type { Visit } from './visit.ts';
import { WrongKeys } from './wrong-keys.ts';

export type AdmissionParts = Readonly<{
  keys: KeyDirectory;
  limiter?: RateLimiter;
  quota?: QuotaLedger;
  wrongKeys?: WrongKeys;
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
  readonly #wrongKeys: WrongKeys;
  readonly #addressLimiter: RateLimiter;

  constructor({ keys, limiter, quota, wrongKeys, addressLimiter }: AdmissionParts) {
    this.keys = keys;
    this.#limiter = limiter ?? new RateLimiter();
    this.#quota = quota ?? new QuotaLedger();
    this.#wrongKeys = wrongKeys ?? new WrongKeys();
    this.#addressLimiter = addressLimiter ?? new RateLimiter();
  }

  /**
   * Finds out who asks, and notes it in the visit.
   * @param product - null for any.
   * @param network - null where the request names it later.
   * @throws Failure TOO_MANY_WRONG_KEYS, MISSING_KEY, INVALID_KEY, KEYS_UNAVAILABLE, UNAUTHORIZED_PRODUCT,
   * NETWORK_FORBIDDEN, ADDRESS_FORBIDDEN, ORIGIN_FORBIDDEN.
   */
  identify(caller: Caller, product: Product | null, network: Network | null, visit: Visit): KeyRecord {
    this.#wrongKeys.check(caller.client, visit.startedAt);
    const key = this.#keyOf(caller, visit.startedAt);
    visit.key = key;
    if (product !== null && key.product !== product) throw new Failure('UNAUTHORIZED_PRODUCT');
    return this.#enter(key, { client: caller.client, network }, visit);
  }

  /**
   * The same for a connection that was let in with a key: as the key is now.
   * @throws Failure INVALID_KEY, NETWORK_FORBIDDEN, ADDRESS_FORBIDDEN, ORIGIN_FORBIDDEN.
   */
  identifyAgain(id: KeyId, use: KeyUse, visit: Visit): KeyRecord {
    const key = this.keys.find(id);
    if (key === undefined || !isUsable(key, Date.now())) throw new Failure('INVALID_KEY');
    visit.key = key;
    return this.#enter(key, use, visit);
  }

  /**
   * Whether the key of a visit may be used for it, and whether credits are left.
   * @param method - null for what is none: a connection.
   * @param cost - credits by the table of what was asked; they are held until the request has ended.
   * @param counted - the name under which it is charged, where that is another.
   * @throws Failure METHOD_FORBIDDEN, QUOTA_EXCEEDED.
   */
  permit(visit: Visit, method: string | null, cost = 0, counted = method): void {
    const { key } = visit;
    if (key === null) throw new Failure('INTERNAL', { cause: 'asked before it is known whose it is' });
    if (method !== null) checkMethod(key, method);
    const price = counted === null ? 0 : priceOf(key.limits, counted, cost);
    this.#quota.check(key, Date.now(), price);
    visit.held = price;
  }

  /**
   * Holds more credits for a request that was permitted, as what it asks for adds up. It goes on in any case; those that
   * come later find them taken.
   * @param cost - credits by the table, in all.
   */
  holdMore(visit: Visit, counted: string, cost: number): void {
    const { key } = visit;
    const price = key === null ? 0 : priceOf(key.limits, counted, cost);
    if (key === null || price <= visit.held) return;
    this.#quota.hold(key, Date.now(), price - visit.held);
    visit.held = price;
  }

  /**
   * Takes calls from the rates of the address, where the key has such, and of the key. The address comes first: what one
   * address asks too much takes nothing from the others.
   * @throws Failure RATE_LIMITED
   */
  takeRate(visit: Visit, calls = 1): void {
    const { key } = visit;
    if (key === null) return;
    const nowMs = performance.now();
    this.takeAddressRate(visit, calls, nowMs);
    this.#note(visit, this.#limiter.take(key.familyId, key.limits, nowMs, calls, key.seat), nowMs);
  }

  /** Where the caller stands, to be shown with the answer. */
  shown({ key, rate }: Visit): LimitFacts {
    return {
      rateLimit: rate?.state ?? null,
      quota: key === null ? null : this.#quota.standing(key, Date.now()),
    };
  }

  /**
   * Takes calls from the rate of the address alone, where the key has such.
   * @param nowMs - `performance.now()`.
   * @throws Failure RATE_LIMITED
   */
  takeAddressRate(visit: Visit, calls = 1, nowMs = performance.now()): void {
    const { key, client } = visit;
    if (key === null || key.addressPerSecond === null) return;
    const place = `${key.familyId} ${client.ip?.site ?? ''}`;
    const rate = { rpcPerSecond: key.addressPerSecond, rpcBurst: key.addressPerSecond };
    this.#note(visit, this.#addressLimiter.take(place, rate, nowMs, calls), nowMs);
  }

  #note(visit: Visit, decision: RateDecision | null, nowMs: number): void {
    visit.rate = decision;
    if (decision !== null && !decision.allowed) throw limited(decision);
    visit.limitedAt = nowMs;
  }

  #keyOf({ credential, client }: Caller, nowMs: number): KeyRecord {
    try {
      return this.keys.identify(credential, Date.now());
    } catch (thrown) {
      if (isGuess(thrown)) this.#wrongKeys.count(client, nowMs);
      throw thrown;
    }
  }

  #enter(key: KeyRecord, use: KeyUse, visit: Visit): KeyRecord {
    const refusal = refusalOf(key, use);
    if (refusal !== null) throw refusal;
    visit.authenticatedAt = performance.now();
    return key;
  }
}

/** The refusal of a limit on calls, with where the caller stands and when to come again. */
export const limited = ({ state, retryAfter }: RateDecision): Failure =>
  new Failure('RATE_LIMITED', { facts: { ...state }, retryAfter });

/** Whether a refusal counts as a wrong key: one that has ended does not, or one stale worker would lock out its neighbours. */
const isGuess = (thrown: unknown): boolean =>
  thrown instanceof Failure && thrown.code === 'INVALID_KEY' && thrown.cause !== KEY_ENDED;

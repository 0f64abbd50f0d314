import type { Network } from '../protocol/call.ts';
import { Failure } from '../protocol/errors.ts';
import { isTestMethod } from '../protocol/methods.ts';
import type { Product } from '../protocol/product.ts';
import type { Caller, LimitStatus } from '../protocol/request-handler.ts';
import { FailedAuthLimiter } from './auth/failed-auth-limiter.ts';
import {
  InactiveKeyFailure,
  isUsable,
  KEY_NO_LONGER_VALID,
  type KeyAuthenticator,
} from './auth/key-authenticator.ts';
import { type KeyId, unrestrictedRules } from './auth/key-record.ts';
import { checkMethod, type KeyUse, methodForbidden, rejectionOf } from './auth/key-rules.ts';
import type { LoadedKey } from './auth/key-state.ts';
import { creditsOf, QuotaLedger } from './limits/quota.ts';
import { type RateDecision, RateLimiter } from './limits/rate-limiter.ts';
import type { RequestContext } from './metering/call-meter.ts';

export type AdmissionParts = Readonly<{
  keys: KeyAuthenticator;
  limiter?: RateLimiter;
  quota?: QuotaLedger;
  failedAuthLimiter?: FailedAuthLimiter;
  /** Rate limits per client address, for keys that set such a limit. */
  addressLimiter?: RateLimiter;
  /** Whether keys may call the test methods of a local ledger. Default false. */
  testMethods?: boolean;
}>;

/**
 * Decides whether a request may proceed, in this order: `authenticate` (failed-authentication limit, key, product,
 * network, address, origin), `authorize` (method, quota), `consumeRate` (rate limit of the address, then of the key).
 */
export class Admission {
  readonly keys: KeyAuthenticator;
  readonly #limiter: RateLimiter;
  readonly #quota: QuotaLedger;
  readonly #failedAuthLimiter: FailedAuthLimiter;
  readonly #addressLimiter: RateLimiter;
  readonly #testMethods: boolean;

  constructor({ keys, limiter, quota, failedAuthLimiter, addressLimiter, testMethods }: AdmissionParts) {
    this.keys = keys;
    this.#testMethods = testMethods ?? false;
    this.#limiter = limiter ?? new RateLimiter();
    this.#quota = quota ?? new QuotaLedger();
    this.#failedAuthLimiter = failedAuthLimiter ?? new FailedAuthLimiter();
    this.#addressLimiter = addressLimiter ?? new RateLimiter();
  }

  /** Identifies the key and checks that it may be used. @param network - null if the request names it later. */
  authenticate(
    caller: Caller,
    product: Product | null,
    network: Network | null,
    context: RequestContext,
  ): LoadedKey {
    const { client, credential } = caller;
    const failed = this.#failedAuthLimiter;
    if (failed.hasFailures) failed.check(client, context.startedAt);
    let key: LoadedKey;
    try {
      key = this.keys.authenticate(credential, Date.now());
    } catch (thrown) {
      if (thrown instanceof InactiveKeyFailure) context.inactiveKey = thrown.key;
      if (countsAsFailedAuth(thrown)) failed.recordFailure(client, context.startedAt);
      throw thrown;
    }
    context.key = key;
    if (product !== null && key.product !== product) throw new Failure('UNAUTHORIZED_PRODUCT');
    if (key.rules !== unrestrictedRules) checkKeyUse(key, { client, network });
    context.authenticatedAt = performance.now();
    return key;
  }

  /** Authenticates a request on an open connection against the current record of its key. */
  reauthenticate(id: KeyId, use: KeyUse, context: RequestContext): LoadedKey {
    const key = this.keys.find(id);
    if (key === undefined || !isUsable(key, Date.now())) throw new Failure('INVALID_KEY');
    context.key = key;
    checkKeyUse(key, use);
    context.authenticatedAt = performance.now();
    return key;
  }

  /** @param method - null for a new connection or an invalid request. @param meteredAs - method whose price applies. */
  authorize(context: RequestContext, method: string | null, credits = 0, meteredAs = method): void {
    const { key } = context;
    if (key === null) throw new Failure('INTERNAL', { cause: 'authorization of an unauthenticated request' });
    if (method !== null && !this.#testMethods && isTestMethod(method)) throw methodForbidden(method);
    if (method !== null && key.rules.methods !== null) checkMethod(key, method);
    const price = meteredAs === null ? 0 : creditsOf(key.limits, meteredAs, credits);
    this.#quota.reserve(key, Date.now(), price);
    context.reservedCredits = price;
  }

  /** Raises the reservation of an authorized request. Never rejects the request; only later requests are affected. */
  reserveMore(context: RequestContext, meteredAs: string, credits: number): void {
    const { key } = context;
    const price = key === null ? 0 : creditsOf(key.limits, meteredAs, credits);
    if (key === null || price <= context.reservedCredits) return;
    this.#quota.reserveMore(key, Date.now(), price - context.reservedCredits);
    context.reservedCredits = price;
  }

  /** Checks the address limit first, so that a call rejected by this limit does not count against the key's limit. */
  consumeRate(context: RequestContext, calls = 1): void {
    const { key } = context;
    if (key === null) return;
    const nowMs = performance.now();
    if (key.addressPerSecond !== null) this.consumeAddressRate(context, calls, nowMs);
    const decision = this.#limiter.consume(key.familyId, key.limits, nowMs, calls, key.keyState);
    recordDecision(context, decision, nowMs);
  }

  consumeAddressRate(context: RequestContext, calls = 1, nowMs = performance.now()): void {
    const { key, client } = context;
    if (key === null || key.addressPerSecond === null) return;
    const bucketKey = `${key.familyId} ${client.ip?.subnet ?? ''}`;
    const rate = { rpcPerSecond: key.addressPerSecond, rpcBurst: key.addressPerSecond };
    recordDecision(context, this.#addressLimiter.consume(bucketKey, rate, nowMs, calls), nowMs);
  }

  limitStatus({ key, rateDecision }: RequestContext): LimitStatus {
    return {
      rateLimit: rateDecision?.state ?? null,
      quota: key === null ? null : this.#quota.status(key, Date.now()),
    };
  }
}

function checkKeyUse(key: LoadedKey, use: KeyUse): void {
  const rejection = rejectionOf(key, use);
  if (rejection !== null) throw rejection;
}

function recordDecision(context: RequestContext, decision: RateDecision | null, nowMs: number): void {
  context.rateDecision = decision;
  if (decision !== null && !decision.allowed) throw rateLimited(decision);
  context.limitedAt = nowMs;
}

export const rateLimited = ({ state, retryAfter }: RateDecision): Failure =>
  new Failure('RATE_LIMITED', { facts: { ...state }, retryAfter });

/** Keys that were once valid do not count: otherwise, an old key could get a shared address blocked. */
const countsAsFailedAuth = (thrown: unknown): boolean =>
  thrown instanceof Failure && thrown.code === 'INVALID_KEY' && thrown.cause !== KEY_NO_LONGER_VALID;

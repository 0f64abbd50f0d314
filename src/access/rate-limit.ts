import { Lru } from '../base/lru.ts';
import type { RateLimitState } from '../protocol/serve.ts';
import type { PlanLimits } from './key-record.ts';

/** What a limit says about one call. */
export type RateDecision = Readonly<{
  allowed: boolean;
  state: RateLimitState;
  /** Whole seconds until a call is allowed again; 0 when this one is. */
  retryAfter: number;
}>;

/** The part of a plan that the rate follows from. */
export type RatePlan = Pick<PlanLimits, 'rpcPerSecond' | 'rpcBurst'>;

/** Tokens of one family. A token is one call. */
type Bucket = { tokens: number; filledAtMs: number };

/**
 * Token buckets in memory, one per key family: `rpcBurst` tokens at most, `rpcPerSecond` more each second. Old
 * families that no longer call are forgotten, which is as if their bucket had filled up again.
 */
export class RateLimiter {
  readonly #buckets: Lru<string, Bucket>;

  constructor({ familiesMax = 100_000 }: Readonly<{ familiesMax?: number }> = {}) {
    this.#buckets = new Lru(familiesMax);
  }

  /**
   * Takes tokens of the family if there is one; what it has not is taken from those to come.
   * @param nowMs - milliseconds of a clock that does not run backwards.
   * @returns null when the plan sets no limit.
   */
  take(familyId: string, limits: RatePlan, nowMs: number, count = 1): RateDecision | null {
    if (limits.rpcPerSecond <= 0) return null;
    const capacity = Math.max(1, limits.rpcBurst);
    const bucket = this.#fill(familyId, capacity, limits.rpcPerSecond, nowMs);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= count;
    return decide(allowed, bucket.tokens, capacity, limits.rpcPerSecond);
  }

  #fill(familyId: string, capacity: number, perSecond: number, nowMs: number): Bucket {
    let bucket = this.#buckets.get(familyId);
    if (bucket === undefined) {
      bucket = { tokens: capacity, filledAtMs: nowMs };
      this.#buckets.set(familyId, bucket);
      return bucket;
    }
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.tokens = Math.min(capacity, bucket.tokens + (elapsedMs * perSecond) / 1000);
    bucket.filledAtMs = Math.max(nowMs, bucket.filledAtMs);
    return bucket;
  }
}

/**
 * `resetSeconds` is the time until there is a token again when there is none, otherwise until the bucket is
 * full; so Retry-After never points earlier than it (IETF draft ratelimit-headers §3.3).
 */
function decide(allowed: boolean, tokens: number, capacity: number, perSecond: number): RateDecision {
  const remaining = Math.max(0, Math.floor(tokens));
  const wanted = remaining >= 1 ? capacity : 1;
  const resetSeconds = Math.ceil((wanted - tokens) / perSecond);
  const windowSeconds = Math.max(1, Math.ceil(capacity / perSecond));
  const state = { limit: capacity, remaining, windowSeconds, resetSeconds };
  return { allowed, state, retryAfter: allowed ? 0 : Math.max(1, resetSeconds) };
}

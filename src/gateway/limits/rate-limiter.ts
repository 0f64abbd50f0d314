import { Lru } from '../../base/cache/lru.ts';
import type { RateLimitState } from '../../protocol/request-handler.ts';
import type { PlanLimits } from '../auth/key-record.ts';
import { TrackedSet } from './tracked-set.ts';

/** Number of addresses that cost as much as one call. */
const ADDRESSES_PER_CALL = 1_000;

/** Calls charged for the addresses in a call, in addition to the call itself. */
export const extraCallsFor = (addresses: number): number => Math.floor(addresses / ADDRESSES_PER_CALL);

export type RateDecision = Readonly<{
  allowed: boolean;
  state: RateLimitState;
  /** Whole seconds; 0 if allowed. */
  retryAfter: number;
}>;

export type RatePlan = Pick<PlanLimits, 'rpcPerSecond' | 'rpcBurst'>;

/** Tokens taken by a key family, reported to the other gateways. */
export type TokenReport = Readonly<{
  familyId: string;
  /** Tokens taken since the last acknowledged report. */
  taken: number;
  /** Unchanged until a report is acknowledged, so that repeated reports are counted once. */
  reportId: number;
  /** Tokens needed to fill the bucket, including `taken`. Tokens taken earlier and refilled since do not count. */
  missing: number;
  perSecond: number;
  capacity: number;
}>;

/** Token bucket of one key family. A token is one call. */
export class RateBucket {
  /** Null after eviction. */
  limiter: RateLimiter | null;
  tokens = Number.POSITIVE_INFINITY;
  filledAtMs: number;
  /** Rate and capacity of the plan when the bucket was last used. */
  perSecond = 0;
  capacity = 0;
  /** Tokens taken that other gateways may not know about. */
  unreported = 0;
  /** Tokens in the report that awaits acknowledgment. */
  tokensInReport = 0;
  /** Id of the report that awaits acknowledgment, or else of the next report. */
  reportId: number;
  /** Tokens left in this gateway's share; used while gateways cannot exchange reports. */
  share = 0;
  /** Number of gateways that `share` was computed for. */
  shareGateways = 1;

  constructor(limiter: RateLimiter, filledAtMs: number, reportId: number) {
    this.limiter = limiter;
    this.filledAtMs = filledAtMs;
    this.reportId = reportId;
  }
}

type BucketCache = { rateBucket: RateBucket | null };

type RateLimiterOptions = Readonly<{ familiesMax?: number; isShared?: boolean }>;

/**
 * Token buckets per key family: capacity `rpcBurst`, refilled at `rpcPerSecond`; an evicted bucket starts full again.
 * Gateways that share a limit each decide from their own bucket, which is adjusted to the total across all gateways.
 */
export class RateLimiter {
  readonly #buckets: Lru<string, RateBucket>;
  /** Families used recently; null if limits are not shared. */
  readonly #tracked: TrackedSet | null;
  #gateways = 1;
  #lastReportId = 0;

  constructor({ familiesMax = 100_000, isShared = false }: RateLimiterOptions = {}) {
    this.#buckets = new Lru(familiesMax, undefined, (bucket) => {
      bucket.limiter = null;
    });
    this.#tracked = isShared ? new TrackedSet(familiesMax) : null;
  }

  /** Takes `count` tokens if at least one is left; may leave a debt. @returns null if the plan has no rate limit. */
  consume(
    familyId: string,
    limits: RatePlan,
    nowMs: number,
    count = 1,
    keyState: BucketCache | null = null,
  ): RateDecision | null {
    if (limits.rpcPerSecond <= 0) return null;
    const cached = keyState === null ? null : keyState.rateBucket;
    const bucket = cached?.limiter === this ? cached : this.#bucketFor(familyId, nowMs, keyState);
    bucket.perSecond = limits.rpcPerSecond;
    bucket.capacity = Math.max(1, limits.rpcBurst);
    // A new bucket is full.
    if (bucket.tokens === Number.POSITIVE_INFINITY) bucket.tokens = bucket.capacity;
    this.#refill(bucket, nowMs);
    const isDivided = this.#gateways > 1;
    const allowed = (isDivided ? bucket.share : bucket.tokens) >= 1;
    if (allowed) {
      bucket.tokens -= count;
      bucket.share -= count;
      bucket.unreported += count;
    }
    this.#tracked?.add(familyId);
    const available = isDivided ? bucket.share : bucket.tokens;
    const capacity = Math.max(1, bucket.capacity / this.#gateways);
    return toDecision(allowed, available, capacity, bucket.perSecond / this.#gateways);
  }

  takeReports(familiesMax: number, nowMs: number): TokenReport[] {
    const familyIds = this.#tracked?.next(familiesMax) ?? [];
    return familyIds.flatMap((familyId) => {
      const bucket = this.#buckets.get(familyId);
      return bucket === undefined ? [] : [this.#report(familyId, bucket, nowMs)];
    });
  }

  /** Acknowledges the last report. @param missing - tokens missing across all gateways; may exceed the capacity. */
  applyRemote(familyId: string, missing: number, nowMs: number): void {
    const bucket = this.#buckets.get(familyId);
    if (bucket === undefined) return;
    bucket.unreported = Math.max(0, bucket.unreported - bucket.tokensInReport);
    bucket.tokensInReport = 0;
    bucket.reportId = ++this.#lastReportId;
    bucket.tokens = bucket.capacity - missing - bucket.unreported;
    bucket.filledAtMs = nowMs;
    bucket.shareGateways = 1;
  }

  /** @param gateways - number by which limits are divided while gateways cannot exchange reports; otherwise 1. */
  setGateways(gateways: number): void {
    this.#gateways = gateways;
  }

  #report(familyId: string, bucket: RateBucket, nowMs: number): TokenReport {
    const { perSecond, capacity, unreported, reportId } = bucket;
    this.#refill(bucket, nowMs);
    const missing = Math.max(0, capacity - bucket.tokens);
    bucket.tokensInReport = unreported;
    return { familyId, taken: unreported, reportId, missing, perSecond, capacity };
  }

  #refill(bucket: RateBucket, nowMs: number): void {
    const { perSecond, capacity } = bucket;
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.filledAtMs = Math.max(nowMs, bucket.filledAtMs);
    bucket.tokens = Math.min(capacity, bucket.tokens + (elapsedMs * perSecond) / 1000);
    if (this.#gateways === 1) return;
    const refilled = (elapsedMs * perSecond) / 1000 / this.#gateways;
    const isNew = bucket.shareGateways !== this.#gateways;
    const share = isNew ? bucket.tokens / this.#gateways : bucket.share + refilled;
    bucket.share = Math.min(Math.max(1, capacity / this.#gateways), share);
    bucket.shareGateways = this.#gateways;
  }

  #bucketFor(familyId: string, nowMs: number, keyState: BucketCache | null): RateBucket {
    const bucket = this.#buckets.get(familyId) ?? this.#createBucket(familyId, nowMs);
    if (keyState !== null) keyState.rateBucket = bucket;
    return bucket;
  }

  #createBucket(familyId: string, nowMs: number): RateBucket {
    const bucket = new RateBucket(this, nowMs, ++this.#lastReportId);
    this.#buckets.set(familyId, bucket);
    return bucket;
  }
}

/**
 * `resetSeconds` is the time until a token is available if none is left, otherwise until the bucket is full. When sent,
 * Retry-After is never less than `resetSeconds` (IETF draft ratelimit-headers §3.3). The window is rounded up.
 */
function toDecision(allowed: boolean, tokens: number, capacity: number, perSecond: number): RateDecision {
  const remaining = Math.max(0, Math.floor(tokens));
  const needed = remaining >= 1 ? capacity : 1;
  const resetSeconds = Math.ceil((needed - tokens) / perSecond);
  const windowSeconds = Math.max(1, Math.ceil(capacity / perSecond));
  const state = { limit: Math.floor(capacity), remaining, windowSeconds, resetSeconds };
  return { allowed, state, retryAfter: allowed ? 0 : Math.max(1, resetSeconds) };
}

import { Lru } from '../../base/cache/lru.ts';
import type { RateLimitState } from '../../protocol/request-handler.ts';
import type { PlanLimits } from '../auth/key-record.ts';
import { TrackedSet } from './tracked-set.ts';

/** So many addresses cost as much rate as one more call. */
const ADDRESSES_PER_CALL = 1_000;

/** Calls that addresses cost beyond the call that names them. */
export const callsForAddresses = (addresses: number): number => Math.floor(addresses / ADDRESSES_PER_CALL);

/** What a limit says about one call. */
export type RateDecision = Readonly<{
  allowed: boolean;
  state: RateLimitState;
  /** Whole seconds until a call is allowed again; 0 when this one is. */
  retryAfter: number;
}>;

/** The part of a plan that the rate follows from. */
export type RatePlan = Pick<PlanLimits, 'rpcPerSecond' | 'rpcBurst'>;

/** What a family took here, for the other gateways. */
export type TokenReport = Readonly<{
  familyId: string;
  /** Since a telling was heard last. */
  taken: number;
  /** The same for as long as none was heard: what comes again under it is not to be counted again. */
  reportId: number;
  /** Tokens that are missing here until the bucket is full, with those: what was taken beyond them has come back. */
  missing: number;
  perSecond: number;
  capacity: number;
}>;

/** Token bucket of one key family. A token is one call. */
export type RateBucket = {
  /** Whose it is; null: it was forgotten. */
  limiter: RateLimiter | null;
  tokens: number;
  filledAtMs: number;
  /** As of the plan when it was asked last. */
  perSecond: number;
  capacity: number;
  /** Tokens that were taken and that other gateways may not have heard of. */
  unreported: number;
  /** Those of them that are in the telling that is under way, and its number. */
  reporting: number;
  reportId: number;
  /** The part of one of so many gateways, while none hears of the others. */
  share: number;
  gateways: number;
};

/** Where a key caches its bucket. */
type BucketCache = { rateBucket: RateBucket | null };

type RateLimiterOptions = Readonly<{
  familiesMax?: number;
  /** Whether other gateways are to hear what is taken. */
  isShared?: boolean;
}>;

/**
 * Token buckets in memory, one per key family: `rpcBurst` tokens at most, `rpcPerSecond` more each second. Old
 * families that no longer call are forgotten, which is as if their bucket had filled up again. Where several gateways
 * share a limit, each decides by its own bucket, and now and then learns how full it is when all are counted.
 */
export class RateLimiter {
  readonly #buckets: Lru<string, RateBucket>;
  /** Families that asked lately; null where nothing is shared. */
  readonly #tracked: TrackedSet | null;
  #gateways = 1;
  #lastReportId = 0;

  constructor({ familiesMax = 100_000, isShared = false }: RateLimiterOptions = {}) {
    this.#buckets = new Lru(familiesMax, undefined, (bucket) => {
      bucket.limiter = null;
    });
    this.#tracked = isShared ? new TrackedSet(familiesMax) : null;
  }

  /**
   * Takes tokens of the family if there is one; what it has not is taken from those to come.
   * @param nowMs - milliseconds of a clock that does not run backwards.
   * @param seat - of the key, where its family has one.
   * @returns null when the plan sets no limit.
   */
  take(
    familyId: string,
    limits: RatePlan,
    nowMs: number,
    count = 1,
    keyState: BucketCache | null = null,
  ): RateDecision | null {
    if (limits.rpcPerSecond <= 0) return null;
    const bucket = this.#cachedBucket(keyState) ?? this.#bucketFor(familyId, nowMs, keyState);
    bucket.perSecond = limits.rpcPerSecond;
    bucket.capacity = Math.max(1, limits.rpcBurst);
    // A new one is full.
    if (bucket.tokens === Number.POSITIVE_INFINITY) bucket.tokens = bucket.capacity;
    this.#fill(bucket, nowMs);
    const allowed = this.#available(bucket) >= 1;
    if (allowed) {
      bucket.tokens -= count;
      bucket.share -= count;
      bucket.unreported += count;
    }
    this.#tracked?.add(familyId);
    const perSecond = bucket.perSecond / this.#gateways;
    return decide(allowed, this.#available(bucket), this.#shareOf(bucket.capacity), perSecond);
  }

  /** What families took that asked lately, of no more than so many families. */
  takeReports(familiesMax: number, nowMs: number): TokenReport[] {
    const names = this.#tracked?.next(familiesMax) ?? [];
    return names.flatMap((familyId) => {
      const bucket = this.#buckets.get(familyId);
      return bucket === undefined ? [] : [this.#report(familyId, bucket, nowMs)];
    });
  }

  /**
   * Takes in how many tokens of a family are missing when all gateways are counted, with what was told of here last.
   * @param missing - may be more than the bucket holds: then nothing is let through until that is paid back.
   */
  applyRemote(familyId: string, missing: number, nowMs: number): void {
    const bucket = this.#buckets.get(familyId);
    if (bucket === undefined) return;
    bucket.unreported = Math.max(0, bucket.unreported - bucket.reporting);
    bucket.reporting = 0;
    bucket.reportId = ++this.#lastReportId;
    bucket.tokens = bucket.capacity - missing - bucket.unreported;
    bucket.filledAtMs = nowMs;
    bucket.gateways = 1;
  }

  /** From now on each of so many gateways has its part, since none hears of the others; 1: they hear of each other. */
  divide(gateways: number): void {
    this.#gateways = gateways;
  }

  #report(familyId: string, bucket: RateBucket, nowMs: number): TokenReport {
    const { perSecond, capacity, unreported, reportId } = bucket;
    this.#fill(bucket, nowMs);
    const missing = Math.max(0, capacity - bucket.tokens);
    bucket.reporting = unreported;
    return { familyId, taken: unreported, reportId, missing, perSecond, capacity };
  }

  /** What may be taken: all there is, or this gateway's part. */
  #available({ tokens, share }: RateBucket): number {
    return this.#gateways > 1 ? share : tokens;
  }

  #fill(bucket: RateBucket, nowMs: number): void {
    const { perSecond, capacity } = bucket;
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.filledAtMs = Math.max(nowMs, bucket.filledAtMs);
    bucket.tokens = Math.min(capacity, bucket.tokens + (elapsedMs * perSecond) / 1000);
    if (this.#gateways === 1) return;
    const refilled = (elapsedMs * perSecond) / 1000 / this.#gateways;
    const isNew = bucket.gateways !== this.#gateways;
    const share = isNew ? bucket.tokens / this.#gateways : bucket.share + refilled;
    bucket.share = Math.min(this.#shareOf(capacity), share);
    bucket.gateways = this.#gateways;
  }

  #shareOf(capacity: number): number {
    return Math.max(1, capacity / this.#gateways);
  }

  /** The bucket that was found last for the key, if it still is in use here. */
  #cachedBucket(keyState: BucketCache | null): RateBucket | null {
    const bucket = keyState === null ? null : keyState.rateBucket;
    return bucket !== null && bucket.limiter === this ? bucket : null;
  }

  #bucketFor(familyId: string, nowMs: number, keyState: BucketCache | null): RateBucket {
    const bucket = this.#buckets.get(familyId) ?? this.#createBucket(familyId, nowMs);
    if (keyState !== null) keyState.rateBucket = bucket;
    return bucket;
  }

  #createBucket(familyId: string, nowMs: number): RateBucket {
    const bucket: RateBucket = {
      limiter: this,
      tokens: Number.POSITIVE_INFINITY,
      filledAtMs: nowMs,
      perSecond: 0,
      capacity: 0,
      unreported: 0,
      reporting: 0,
      reportId: ++this.#lastReportId,
      share: 0,
      gateways: 1,
    };
    this.#buckets.set(familyId, bucket);
    return bucket;
  }
}

/**
 * `resetSeconds` is the time until there is a token again when there is none, otherwise until the bucket is
 * full; so Retry-After never points earlier than it (IETF draft ratelimit-headers §3.3). A window is whole seconds there,
 * so the time that fills an empty bucket is rounded up: who spreads `limit` calls over it is never refused.
 */
function decide(allowed: boolean, tokens: number, capacity: number, perSecond: number): RateDecision {
  const remaining = Math.max(0, Math.floor(tokens));
  const needed = remaining >= 1 ? capacity : 1;
  const resetSeconds = Math.ceil((needed - tokens) / perSecond);
  const windowSeconds = Math.max(1, Math.ceil(capacity / perSecond));
  const state = { limit: Math.floor(capacity), remaining, windowSeconds, resetSeconds };
  return { allowed, state, retryAfter: allowed ? 0 : Math.max(1, resetSeconds) };
}

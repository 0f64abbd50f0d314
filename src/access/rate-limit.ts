import { Lru } from '../base/lru.ts';
import type { RateLimitState } from '../protocol/serve.ts';
import { Followed } from './followed.ts';
import type { PlanLimits } from './key-record.ts';
import type { KeySeat } from './key-seat.ts';

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
export type TakenTokens = Readonly<{
  familyId: string;
  /** Since a telling was heard last. */
  taken: number;
  /** The same for as long as none was heard: what comes again under it is not to be counted again. */
  telling: number;
  /** Tokens that are missing here until the bucket is full, with those: what was taken beyond them has come back. */
  missing: number;
  perSecond: number;
  capacity: number;
}>;

/** Tokens of one family. A token is one call. */
type Bucket = {
  /** Whose it is; null: it was forgotten. */
  owner: RateLimiter | null;
  tokens: number;
  filledAtMs: number;
  /** As of the plan when it was asked last. */
  perSecond: number;
  capacity: number;
  /** Tokens that were taken and that other gateways may not have heard of. */
  untold: number;
  /** Those of them that are in the telling that is under way, and its number. */
  told: number;
  telling: number;
  /** The part of one of so many gateways, while none hears of the others. */
  part: number;
  gateways: number;
};

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
  readonly #buckets: Lru<string, Bucket>;
  /** Families that asked lately; null where nothing is shared. */
  readonly #asked: Followed | null;
  #gateways = 1;
  #tellings = 0;

  constructor({ familiesMax = 100_000, isShared = false }: RateLimiterOptions = {}) {
    this.#buckets = new Lru(familiesMax, undefined, (bucket) => {
      bucket.owner = null;
    });
    this.#asked = isShared ? new Followed(familiesMax) : null;
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
    seat: KeySeat | null = null,
  ): RateDecision | null {
    if (limits.rpcPerSecond <= 0) return null;
    const bucket = this.#seatedBucket(seat) ?? this.#bucketOf(familyId, nowMs, seat);
    bucket.perSecond = limits.rpcPerSecond;
    bucket.capacity = Math.max(1, limits.rpcBurst);
    // A new one is full.
    if (bucket.tokens === Number.POSITIVE_INFINITY) bucket.tokens = bucket.capacity;
    this.#fill(bucket, nowMs);
    const allowed = this.#left(bucket) >= 1;
    if (allowed) {
      bucket.tokens -= count;
      bucket.part -= count;
      bucket.untold += count;
    }
    this.#asked?.add(familyId);
    const perSecond = bucket.perSecond / this.#gateways;
    return decide(allowed, this.#left(bucket), this.#partOf(bucket.capacity), perSecond);
  }

  /** What families took that asked lately, of no more than so many families. */
  taken(familiesMax: number, nowMs: number): TakenTokens[] {
    const names = this.#asked?.next(familiesMax) ?? [];
    return names.flatMap((familyId) => {
      const bucket = this.#buckets.get(familyId);
      return bucket === undefined ? [] : [this.#tell(familyId, bucket, nowMs)];
    });
  }

  /**
   * Takes in how many tokens of a family are missing when all gateways are counted, with what was told of here last.
   * @param missing - may be more than the bucket holds: then nothing is let through until that is paid back.
   */
  learn(familyId: string, missing: number, nowMs: number): void {
    const bucket = this.#buckets.get(familyId);
    if (bucket === undefined) return;
    bucket.untold = Math.max(0, bucket.untold - bucket.told);
    bucket.told = 0;
    bucket.telling = ++this.#tellings;
    bucket.tokens = bucket.capacity - missing - bucket.untold;
    bucket.filledAtMs = nowMs;
    bucket.gateways = 1;
  }

  /** From now on each of so many gateways has its part, since none hears of the others; 1: they hear of each other. */
  divide(gateways: number): void {
    this.#gateways = gateways;
  }

  #tell(familyId: string, bucket: Bucket, nowMs: number): TakenTokens {
    const { perSecond, capacity, untold, telling } = bucket;
    this.#fill(bucket, nowMs);
    const missing = Math.max(0, capacity - bucket.tokens);
    bucket.told = untold;
    return { familyId, taken: untold, telling, missing, perSecond, capacity };
  }

  /** What may be taken: all there is, or this gateway's part. */
  #left({ tokens, part }: Bucket): number {
    return this.#gateways > 1 ? part : tokens;
  }

  #fill(bucket: Bucket, nowMs: number): void {
    const { perSecond, capacity } = bucket;
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs);
    bucket.filledAtMs = Math.max(nowMs, bucket.filledAtMs);
    bucket.tokens = Math.min(capacity, bucket.tokens + (elapsedMs * perSecond) / 1000);
    if (this.#gateways === 1) return;
    const came = (elapsedMs * perSecond) / 1000 / this.#gateways;
    const isNew = bucket.gateways !== this.#gateways;
    const part = isNew ? bucket.tokens / this.#gateways : bucket.part + came;
    bucket.part = Math.min(this.#partOf(capacity), part);
    bucket.gateways = this.#gateways;
  }

  #partOf(capacity: number): number {
    return Math.max(1, capacity / this.#gateways);
  }

  /** The bucket that was found last for the key, if it still is in use here. */
  #seatedBucket(seat: KeySeat | null): Bucket | null {
    const bucket = seat === null ? null : (seat.bucket as Bucket | null);
    return bucket !== null && bucket.owner === this ? bucket : null;
  }

  #bucketOf(familyId: string, nowMs: number, seat: KeySeat | null): Bucket {
    const bucket = this.#buckets.get(familyId) ?? this.#open(familyId, nowMs);
    if (seat !== null) seat.bucket = bucket;
    return bucket;
  }

  #open(familyId: string, nowMs: number): Bucket {
    const bucket: Bucket = {
      owner: this,
      tokens: Number.POSITIVE_INFINITY,
      filledAtMs: nowMs,
      perSecond: 0,
      capacity: 0,
      untold: 0,
      told: 0,
      telling: ++this.#tellings,
      part: 0,
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
  const wanted = remaining >= 1 ? capacity : 1;
  const resetSeconds = Math.ceil((wanted - tokens) / perSecond);
  const windowSeconds = Math.max(1, Math.ceil(capacity / perSecond));
  const state = { limit: Math.floor(capacity), remaining, windowSeconds, resetSeconds };
  return { allowed, state, retryAfter: allowed ? 0 : Math.max(1, resetSeconds) };
}

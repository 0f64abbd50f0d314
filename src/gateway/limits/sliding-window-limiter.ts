import { Lru } from '../../base/cache/lru.ts';
import type { RateDecision } from './rate-limiter.ts';
import { TrackedSet } from './tracked-set.ts';

type SlidingWindowOptions = Readonly<{
  /** Maximum requests per window. */
  requestsMax: number;
  windowMs: number;
  /** Maximum number of tracked names; the least recently used is evicted first. */
  namesMax: number;
  isShared?: boolean;
}>;

/** Requests of a name per bucket, as reported to the other gateways. */
export type WindowReport = Readonly<{
  name: string;
  /** Buckets changed since the last report, numbered from the clock's zero, with their request counts. */
  buckets: readonly (readonly [part: number, requests: number])[];
}>;

/** Buckets per window; each expires as a whole. A bucket of a one-minute window spans one second. */
const BUCKETS = 60;

/** Requests in each bucket of the window that ends with bucket `newest`, and their total. */
type WindowCount = {
  newest: number;
  total: number;
  readonly buckets: Uint32Array;
  /** Counts that the other gateways last reported; null: none. */
  remote: Uint32Array | null;
  remoteTotal: number;
  /** First bucket to include in the next report. */
  unreportedFrom: number;
  reportRound: number;
};

/**
 * Sliding window per name with one counter per bucket. Admits at most `requestsMax` requests in any span that is one
 * bucket shorter than `windowMs`. Gateways that share a limit add the counts that the others last reported.
 */
export class SlidingWindowLimiter {
  readonly #options: Pick<SlidingWindowOptions, 'requestsMax'>;
  readonly #windowMs: number;
  readonly #counts: Lru<string, WindowCount>;
  /** Names used recently; null if limits are not shared. */
  readonly #tracked: TrackedSet | null;
  #gateways = 1;
  #reportRound = 0;

  constructor(options: SlidingWindowOptions) {
    const { windowMs, namesMax, isShared = false } = options;
    this.#options = options;
    this.#windowMs = windowMs;
    this.#counts = new Lru(namesMax);
    this.#tracked = isShared ? new TrackedSet(namesMax) : null;
  }

  get bucketMs(): number {
    return this.#windowMs / BUCKETS;
  }

  get bucketCount(): number {
    return BUCKETS;
  }

  /** Counts a request if the window has capacity. @param nowMs - monotonic time. */
  consume(name: string, nowMs: number): RateDecision {
    const count = this.#countFor(name, this.#bucketAt(nowMs));
    const requestsMax = Math.max(1, Math.floor(this.#options.requestsMax / this.#gateways));
    const allowed = this.#totalOf(count) < requestsMax;
    if (allowed) this.#add(count);
    this.#tracked?.add(name);
    const remaining = Math.max(0, requestsMax - this.#totalOf(count));
    // With capacity left, the reset is when all buckets have expired; otherwise, when the oldest used bucket expires.
    const resetBucket = remaining > 0 ? count.newest : this.#oldestBucket(count);
    const resetSeconds = Math.ceil(((resetBucket + BUCKETS) * this.bucketMs - nowMs) / 1_000);
    const windowSeconds = Math.ceil(this.#windowMs / 1_000);
    return {
      allowed,
      state: { limit: requestsMax, remaining, windowSeconds, resetSeconds },
      retryAfter: allowed ? 0 : Math.max(1, resetSeconds),
    };
  }

  takeReports(namesMax: number): WindowReport[] {
    const names = this.#tracked?.next(namesMax) ?? [];
    return names.flatMap((name) => {
      const count = this.#counts.get(name);
      return count === undefined ? [] : [{ name, buckets: this.#unreportedBuckets(count) }];
    });
  }

  /** Makes the next reports complete, because earlier reports may have been lost. */
  resetReports(): void {
    this.#reportRound += 1;
  }

  /** Sets the counts of the other gateways; buckets not listed are zero. */
  applyRemote(name: string, buckets: WindowReport['buckets'], nowMs: number): void {
    const count = this.#counts.get(name);
    if (count === undefined) return;
    this.#advance(count, this.#bucketAt(nowMs));
    const remote = count.remote ?? new Uint32Array(BUCKETS);
    remote.fill(0);
    count.remoteTotal = 0;
    for (const [bucket, requests] of buckets) {
      // A bucket in the future, due to another gateway's clock, counts as current.
      const clamped = Math.min(bucket, count.newest);
      if (clamped <= count.newest - BUCKETS) continue;
      const at = clamped % BUCKETS;
      remote[at] = (remote[at] ?? 0) + requests;
      count.remoteTotal += requests;
    }
    count.remote = remote;
  }

  /** @param gateways - number by which limits are divided while gateways cannot exchange reports; otherwise 1. */
  setGateways(gateways: number): void {
    this.#gateways = gateways;
  }

  #totalOf({ total, remoteTotal }: WindowCount): number {
    return this.#gateways > 1 ? total : total + remoteTotal;
  }

  #unreportedBuckets(count: WindowCount): WindowReport['buckets'] {
    const buckets: [number, number][] = [];
    if (count.reportRound !== this.#reportRound) count.unreportedFrom = 0;
    count.reportRound = this.#reportRound;
    for (
      let bucket = Math.max(count.unreportedFrom, count.newest - BUCKETS + 1);
      bucket <= count.newest;
      bucket++
    ) {
      const requests = count.buckets[bucket % BUCKETS] ?? 0;
      if (requests > 0) buckets.push([bucket, requests]);
    }
    // The newest bucket may still grow.
    count.unreportedFrom = count.newest;
    return buckets;
  }

  #bucketAt(nowMs: number): number {
    return Math.floor(nowMs / this.bucketMs);
  }

  #countFor(name: string, bucket: number): WindowCount {
    const existing = this.#counts.get(name);
    if (existing !== undefined) {
      this.#advance(existing, bucket);
      return existing;
    }
    const created: WindowCount = {
      newest: bucket,
      total: 0,
      buckets: new Uint32Array(BUCKETS),
      remote: null,
      remoteTotal: 0,
      unreportedFrom: bucket,
      reportRound: this.#reportRound,
    };
    this.#counts.set(name, created);
    return created;
  }

  #add(count: WindowCount): void {
    const at = count.newest % BUCKETS;
    count.buckets[at] = (count.buckets[at] ?? 0) + 1;
    count.total++;
  }

  #advance(count: WindowCount, bucket: number): void {
    const steps = Math.min(bucket - count.newest, BUCKETS);
    for (let step = 1; step <= steps; step++) {
      const at = (count.newest + step) % BUCKETS;
      count.total -= count.buckets[at] ?? 0;
      count.buckets[at] = 0;
      if (count.remote !== null) {
        count.remoteTotal -= count.remote[at] ?? 0;
        count.remote[at] = 0;
      }
    }
    count.newest = Math.max(count.newest, bucket);
  }

  #oldestBucket({ newest, buckets, remote }: WindowCount): number {
    let bucket = newest - BUCKETS + 1;
    const isEmpty = (at: number): boolean => buckets[at] === 0 && (remote === null || remote[at] === 0);
    while (bucket < newest && isEmpty((bucket + BUCKETS) % BUCKETS)) bucket++;
    return bucket;
  }
}

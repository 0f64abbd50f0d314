import { Lru } from '../../base/cache/lru.ts';
import type { RateDecision } from './rate-limiter.ts';
import { TrackedSet } from './tracked-set.ts';

type SlidingWindowOptions = Readonly<{
  /** Requests that a window has room for. */
  requestsMax: number;
  windowMs: number;
  /** Parts of a window that are counted by themselves; a whole part is forgotten at once. */
  buckets?: number;
  /** Names that are counted at a time; those that asked longest ago are forgotten. */
  namesMax: number;
  /** Whether other gateways are to hear what is let through. */
  isShared?: boolean;
}>;

/** What a name was let through here, part by part, for the other gateways. */
export type WindowReport = Readonly<{
  name: string;
  /** Numbers of parts since the clock's zero, and the requests of each; those that changed since they were told. */
  buckets: readonly (readonly [part: number, requests: number])[];
}>;

/** Of a minute, parts of a second. */
const DEFAULT_BUCKETS = 60;

/** Requests of one name: those of each part of the window that ends with part number `newest`, and all of them. */
type WindowCount = {
  newest: number;
  total: number;
  readonly buckets: Uint32Array;
  /** The same of the other gateways, as it was heard of last; null: nothing was. */
  remote: Uint32Array | null;
  remoteTotal: number;
  /** The first part that they have not heard of, as of that telling. */
  unreportedFrom: number;
  reportRound: number;
};

/**
 * So many requests of a name in a sliding window, counted in parts of it: one number a part, whatever comes.
 * Whoever had fewer than `requestsMax` let through in the last `windowMs` gets the next one through; and in no stretch
 * that is a part shorter than `windowMs` are more let through than `requestsMax`. Where several gateways share a limit,
 * what others let through is counted as it was heard of last.
 */
export class SlidingWindowLimiter {
  readonly #options: Pick<SlidingWindowOptions, 'requestsMax'>;
  readonly #windowMs: number;
  readonly #buckets: number;
  readonly #counts: Lru<string, WindowCount>;
  /** Names that asked lately; null where nothing is shared. */
  readonly #tracked: TrackedSet | null;
  #gateways = 1;
  #reportRound = 0;

  constructor(options: SlidingWindowOptions) {
    const { windowMs, buckets = DEFAULT_BUCKETS, namesMax, isShared = false } = options;
    this.#options = options;
    this.#windowMs = windowMs;
    this.#buckets = buckets;
    this.#counts = new Lru(namesMax);
    this.#tracked = isShared ? new TrackedSet(namesMax) : null;
  }

  /** Length of a part. */
  get bucketMs(): number {
    return this.#windowMs / this.#buckets;
  }

  /** Parts of the window. */
  get bucketCount(): number {
    return this.#buckets;
  }

  /**
   * Counts a request if there is room for it.
   * @param nowMs - milliseconds of a clock that does not run backwards.
   */
  take(name: string, nowMs: number): RateDecision {
    const count = this.#countFor(name, this.#bucketAt(nowMs));
    const requestsMax = Math.max(1, Math.floor(this.#options.requestsMax / this.#gateways));
    const allowed = this.#totalOf(count) < requestsMax;
    if (allowed) this.#add(count);
    this.#tracked?.add(name);
    const remaining = Math.max(0, requestsMax - this.#totalOf(count));
    // Until all is forgotten; or, where there is no room, until some is.
    const forgotten = remaining > 0 ? count.newest : this.#oldestBucket(count);
    const resetSeconds = Math.ceil(((forgotten + this.#buckets) * this.bucketMs - nowMs) / 1_000);
    const windowSeconds = Math.ceil(this.#windowMs / 1_000);
    return {
      allowed,
      state: { limit: requestsMax, remaining, windowSeconds, resetSeconds },
      retryAfter: allowed ? 0 : Math.max(1, resetSeconds),
    };
  }

  /** What names were let through that asked lately, of no more than so many names. */
  takeReports(namesMax: number): WindowReport[] {
    const names = this.#tracked?.next(namesMax) ?? [];
    return names.flatMap((name) => {
      const count = this.#counts.get(name);
      return count === undefined ? [] : [{ name, buckets: this.#unreportedBuckets(count) }];
    });
  }

  /** What was told is to be told again: nobody may have heard it. */
  resetReports(): void {
    this.#reportRound += 1;
  }

  /** Takes in what the other gateways let through, part by part; of what is not named, nothing. */
  applyRemote(name: string, buckets: WindowReport['buckets'], nowMs: number): void {
    const count = this.#counts.get(name);
    if (count === undefined) return;
    this.#advance(count, this.#bucketAt(nowMs));
    const remote = count.remote ?? new Uint32Array(this.#buckets);
    remote.fill(0);
    count.remoteTotal = 0;
    for (const [bucket, requests] of buckets) {
      // What others let through later, by their clocks, counts for now.
      const clamped = Math.min(bucket, count.newest);
      if (clamped <= count.newest - this.#buckets) continue;
      const at = clamped % this.#buckets;
      remote[at] = (remote[at] ?? 0) + requests;
      count.remoteTotal += requests;
    }
    count.remote = remote;
  }

  /** From now on each of so many gateways has its part, since none hears of the others; 1: they hear of each other. */
  divide(gateways: number): void {
    this.#gateways = gateways;
  }

  /** All that counts: while no gateway hears of the others, what is let through here. */
  #totalOf({ total, remoteTotal }: WindowCount): number {
    return this.#gateways > 1 ? total : total + remoteTotal;
  }

  #unreportedBuckets(count: WindowCount): WindowReport['buckets'] {
    const buckets: [number, number][] = [];
    if (count.reportRound !== this.#reportRound) count.unreportedFrom = 0;
    count.reportRound = this.#reportRound;
    for (
      let bucket = Math.max(count.unreportedFrom, count.newest - this.#buckets + 1);
      bucket <= count.newest;
      bucket++
    ) {
      const requests = count.buckets[bucket % this.#buckets] ?? 0;
      if (requests > 0) buckets.push([bucket, requests]);
    }
    // The newest one may grow.
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
      buckets: new Uint32Array(this.#buckets),
      remote: null,
      remoteTotal: 0,
      unreportedFrom: bucket,
      reportRound: this.#reportRound,
    };
    this.#counts.set(name, created);
    return created;
  }

  #add(count: WindowCount): void {
    const at = count.newest % this.#buckets;
    count.buckets[at] = (count.buckets[at] ?? 0) + 1;
    count.total++;
  }

  /** Moves the window on until it ends with this part. */
  #advance(count: WindowCount, bucket: number): void {
    const steps = Math.min(bucket - count.newest, this.#buckets);
    for (let step = 1; step <= steps; step++) {
      const at = (count.newest + step) % this.#buckets;
      count.total -= count.buckets[at] ?? 0;
      count.buckets[at] = 0;
      if (count.remote !== null) {
        count.remoteTotal -= count.remote[at] ?? 0;
        count.remote[at] = 0;
      }
    }
    count.newest = Math.max(count.newest, bucket);
  }

  /** The first part of the window in which requests were let through. */
  #oldestBucket({ newest, buckets, remote }: WindowCount): number {
    let bucket = newest - this.#buckets + 1;
    const isEmpty = (at: number): boolean => buckets[at] === 0 && (remote === null || remote[at] === 0);
    while (bucket < newest && isEmpty((bucket + this.#buckets) % this.#buckets)) bucket++;
    return bucket;
  }
}

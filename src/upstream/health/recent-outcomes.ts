import { bucketOf, createHistogram, mergeHistogram, quantile } from '../../base/histogram.ts';

/** What counts of an attempt: it was answered, it failed, or the node asked to be left alone. */
export type AttemptKind = 'answered' | 'failed' | 'throttled';

/** Half a window: attempts and the latencies of those that were answered. */
class WindowHalf {
  attempts = 0;
  failed = 0;
  throttled = 0;
  readonly latencies = createHistogram();

  clear(): void {
    this.attempts = 0;
    this.failed = 0;
    this.throttled = 0;
    this.latencies.fill(0);
  }
}

/** What became of the calls that a node was asked in the last while, in two halves that take turns. */
export class RecentOutcomes {
  readonly #limits: Readonly<{ windowMs: number }>;
  #current = new WindowHalf();
  #before = new WindowHalf();
  #rotatedAt = 0;

  /** @param limits - of which `windowMs` is what is looked back on: between a half of it and all. */
  constructor(limits: Readonly<{ windowMs: number }>) {
    this.#limits = limits;
  }

  record(kind: AttemptKind, now: number): void {
    this.#rotate(now);
    this.#current.attempts++;
    if (kind === 'failed') this.#current.failed++;
    else if (kind === 'throttled') this.#current.throttled++;
  }

  recordLatency(elapsedMs: number): void {
    const bucket = bucketOf(elapsedMs * 1_000);
    this.#current.latencies[bucket] = (this.#current.latencies[bucket] ?? 0) + 1;
  }

  /** Attempts of the last while. */
  attempts(now: number): number {
    this.#rotate(now);
    return this.#current.attempts + this.#before.attempts;
  }

  /** The share of them that failed; null without any. */
  failedShare(now: number): number | null {
    const attempts = this.attempts(now);
    return attempts === 0 ? null : (this.#current.failed + this.#before.failed) / attempts;
  }

  /** The share of them at which the node asked to be left alone; null without any. */
  throttledShare(now: number): number | null {
    const attempts = this.attempts(now);
    return attempts === 0 ? null : (this.#current.throttled + this.#before.throttled) / attempts;
  }

  /** Milliseconds within which a share of the answers came; null without any. */
  latencyMs(share: number, now: number): number | null {
    this.#rotate(now);
    const both = createHistogram();
    mergeHistogram(both, this.#current.latencies);
    mergeHistogram(both, this.#before.latencies);
    const microseconds = quantile(both, share);
    return microseconds === null ? null : microseconds / 1_000;
  }

  /** What was is no longer held against the node. */
  reset(): void {
    this.#current.clear();
    this.#before.clear();
  }

  #rotate(now: number): void {
    const halfMs = this.#limits.windowMs / 2;
    const since = now - this.#rotatedAt;
    if (since < halfMs) return;
    const cleared = this.#before;
    this.#before = this.#current;
    this.#current = cleared;
    cleared.clear();
    // Nobody asked for longer than a window: neither half is of the last while.
    if (since >= 2 * halfMs) this.#before.clear();
    this.#rotatedAt = now;
  }
}

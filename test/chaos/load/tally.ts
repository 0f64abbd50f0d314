import { bucketOf, createHistogram, quantile } from '../../../src/base/histogram.ts';

/** Counts of requests of one kind. */
export class Tally {
  /** Answerable requests, and those with a right response. */
  answerable = 0;
  good = 0;
  /** Requests without a healthy node, and those with a right response. */
  others = 0;
  othersGood = 0;
  /** Streamed responses that broke off because of a fault. */
  brokenOff = 0;
  readonly #times = createHistogram();

  /** Records the latency of an answerable request. */
  took(ms: number): void {
    const bucket = bucketOf(ms * 1_000);
    this.#times[bucket] = (this.#times[bucket] ?? 0) + 1;
  }

  get failed(): number {
    return this.answerable - this.good;
  }

  /** Share of answerable requests. */
  get share(): number {
    return this.answerable === 0 ? 1 : this.good / this.answerable;
  }

  /** Latency quantile in milliseconds. */
  percentile(share: number): number {
    return Math.round((quantile(this.#times, share) ?? 0) / 1_000);
  }

  summary() {
    const { answerable, good, failed, others, othersGood, brokenOff } = this;
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => this.percentile(share));
    return { answerable, good, failed, others, othersGood, brokenOff, p50, p99, p999 };
  }
}

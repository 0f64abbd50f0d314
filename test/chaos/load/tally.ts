import { bucketOf, createHistogram, quantile } from '../../../src/base/histogram.ts';

/** What became of requests of one kind, counted. */
export class Tally {
  /** Requests that a node could have answered, and those of them that were answered as they must be. */
  answerable = 0;
  good = 0;
  /** Requests while no node was well, and those of them that were answered all the same. */
  others = 0;
  othersGood = 0;
  /** Long answers that broke off after they had begun, while a node was ill: nobody can answer the rest. */
  brokenOff = 0;
  readonly #times = createHistogram();

  /** An answerable request was answered after so long. */
  took(ms: number): void {
    const bucket = bucketOf(ms * 1_000);
    this.#times[bucket] = (this.#times[bucket] ?? 0) + 1;
  }

  get failed(): number {
    return this.answerable - this.good;
  }

  /** Of the answerable. */
  get share(): number {
    return this.answerable === 0 ? 1 : this.good / this.answerable;
  }

  /** In milliseconds: no less than what the share of answers took. */
  percentile(share: number): number {
    return Math.round((quantile(this.#times, share) ?? 0) / 1_000);
  }

  summary() {
    const { answerable, good, failed, others, othersGood, brokenOff } = this;
    const [p50, p99, p999] = [0.5, 0.99, 0.999].map((share) => this.percentile(share));
    return { answerable, good, failed, others, othersGood, brokenOff, p50, p99, p999 };
  }
}

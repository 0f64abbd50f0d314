import { bucketOf, createHistogram, quantile } from '../../base/histogram.ts';
import type { MethodRow } from '../../protocol/methods.ts';

/** With fewer answers than this nothing is known of a method at a node. */
const COUNTED_MIN = 20;
/** The quantile is read anew after so many answers. */
const READ_EVERY = 32;
/** With so many the old ones lose half of their weight. */
const COUNTED_MAX = 2_048;

/** How long the answers of one method took at one node. */
class MethodLatency {
  readonly #counts = createHistogram();
  #counted = 0;
  #sinceRead = 0;
  #quantileMs: number | null = null;

  get quantileMs(): number | null {
    return this.#quantileMs;
  }

  /** @param share - of answers that come sooner than the one that is waited for no longer. */
  record(elapsedMs: number, share: number): void {
    const bucket = bucketOf(elapsedMs * 1_000);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#counted++;
    if (++this.#sinceRead >= READ_EVERY || this.#counted === COUNTED_MIN) this.#read(share);
  }

  #read(share: number): void {
    this.#sinceRead = 0;
    if (this.#counted < COUNTED_MIN) return;
    const microseconds = quantile(this.#counts, share);
    this.#quantileMs = microseconds === null ? null : microseconds / 1_000;
    if (this.#counted >= COUNTED_MAX) this.#halve();
  }

  #halve(): void {
    let counted = 0;
    for (let bucket = 0; bucket < this.#counts.length; bucket++) {
      const half = (this.#counts[bucket] ?? 0) >>> 1;
      this.#counts[bucket] = half;
      counted += half;
    }
    this.#counted = counted;
  }
}

/** What decides after which time a call is put to a second node. */
export type HedgeDelays = Readonly<{ hedgeQuantile: number; hedgeMinMs: number; hedgeMaxMs: number }>;

/** How long the answers of one node took, by method. As many as there are rows in the table of methods. */
export class MethodLatencies {
  readonly #delays: HedgeDelays;
  readonly #ofMethod = new Map<MethodRow, MethodLatency>();

  constructor(delays: HedgeDelays) {
    this.#delays = delays;
  }

  /** An answer took so long, or one that was no longer waited for at least so long. */
  record(row: MethodRow, elapsedMs: number): void {
    let latency = this.#ofMethod.get(row);
    if (latency === undefined) {
      latency = new MethodLatency();
      this.#ofMethod.set(row, latency);
    }
    latency.record(elapsedMs, this.#delays.hedgeQuantile);
  }

  /** How long an answer to this method is waited for before another node is asked too. */
  hedgeAfterMs(row: MethodRow): number {
    const { hedgeMinMs, hedgeMaxMs } = this.#delays;
    const observed = this.#ofMethod.get(row)?.quantileMs ?? hedgeMaxMs;
    return Math.max(hedgeMinMs, Math.min(observed, hedgeMaxMs));
  }
}

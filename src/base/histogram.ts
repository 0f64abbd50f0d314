/**
 * Duration histogram with fixed buckets, so that histograms can be summed. The buckets: below 64 µs; four equal buckets
 * per power of two; 2^25 µs (33.6 s) and above. Except in the first and last bucket, quantiles are up to 25 % too high.
 */
const FIRST_POWER = 6;
const LAST_POWER = 25;
const STEPS = 4;

export const BUCKET_COUNT = (LAST_POWER - FIRST_POWER) * STEPS + 2;

export function bucketOf(microseconds: number): number {
  if (!(microseconds >= 2 ** FIRST_POWER)) return 0;
  if (microseconds >= 2 ** LAST_POWER) return BUCKET_COUNT - 1;
  const whole = Math.floor(microseconds);
  const power = 31 - Math.clz32(whole);
  const step = (whole >> (power - 2)) & (STEPS - 1);
  return 1 + (power - FIRST_POWER) * STEPS + step;
}

/** Exclusive upper end of a bucket in microseconds; Infinity for the last bucket. */
export function bucketEnd(bucket: number): number {
  if (bucket <= 0) return 2 ** FIRST_POWER;
  if (bucket >= BUCKET_COUNT - 1) return Number.POSITIVE_INFINITY;
  const power = FIRST_POWER + Math.floor((bucket - 1) / STEPS);
  const step = (bucket - 1) % STEPS;
  return 2 ** power + (step + 1) * 2 ** (power - 2);
}

export const createHistogram = (): Uint32Array => new Uint32Array(BUCKET_COUNT);

/** Many histograms in one array, one per row. */
export class Histograms {
  #counts: Uint32Array;
  #rows = 0;

  /** @param rows - initial capacity in rows. */
  constructor(rows: number) {
    this.#counts = new Uint32Array(Math.max(1, rows) * BUCKET_COUNT);
  }

  get rows(): number {
    return this.#rows;
  }

  /** @returns the index of the new row. */
  addRow(): number {
    const row = this.#rows++;
    if (row * BUCKET_COUNT < this.#counts.length) return row;
    const counts = new Uint32Array(2 * this.#counts.length);
    counts.set(this.#counts);
    this.#counts = counts;
    return row;
  }

  count(row: number, microseconds: number): void {
    const index = row * BUCKET_COUNT + bucketOf(microseconds);
    this.#counts[index] = (this.#counts[index] as number) + 1;
  }

  at(row: number): Uint32Array {
    return this.#counts.slice(row * BUCKET_COUNT, (row + 1) * BUCKET_COUNT);
  }
}

export function mergeHistogram(into: Uint32Array, from: ArrayLike<number>): void {
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    into[bucket] = (into[bucket] ?? 0) + (from[bucket] ?? 0);
  }
}

/** Quantile in microseconds; null if the histogram is empty. @param share - from 0 to 1. */
export function quantile(counts: ArrayLike<number>, share: number): number | null {
  let total = 0;
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) total += counts[bucket] ?? 0;
  if (total === 0) return null;
  let remaining = Math.max(1, Math.ceil(total * share));
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    remaining -= counts[bucket] ?? 0;
    if (remaining <= 0) return bucketEnd(bucket);
  }
  return Number.POSITIVE_INFINITY;
}

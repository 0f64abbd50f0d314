import { BUCKET_COUNT, bucketEnd, quantile } from '../../../base/histogram.ts';

/** Milliseconds; null where nothing was measured. */
export type Percentiles = Readonly<{
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
}>;

/** The upper end of a bucket in milliseconds; the last one has none, so it tells its lower one: at least as much. */
const endMs = (bucket: number): number => bucketEnd(Math.min(bucket, BUCKET_COUNT - 2)) / 1_000;

/** Where a share of the calls lies, in milliseconds, at most 25 % above the truth. @param share - 0 to 1. */
export function percentile(counts: ArrayLike<number>, share: number): number | null {
  const micros = quantile(counts, share);
  return micros === null ? null : Math.min(micros / 1_000, endMs(BUCKET_COUNT - 1));
}

function maximum(counts: ArrayLike<number>): number | null {
  for (let bucket = BUCKET_COUNT - 1; bucket >= 0; bucket--) {
    if ((counts[bucket] ?? 0) > 0) return endMs(bucket);
  }
  return null;
}

/** What charts show of a histogram. */
export const percentilesOf = (counts: ArrayLike<number>): Percentiles => ({
  p50: percentile(counts, 0.5),
  p95: percentile(counts, 0.95),
  p99: percentile(counts, 0.99),
  max: maximum(counts),
});

/** Buckets of the histogram that one row of a heat map joins: one power of two. */
const BUCKETS_PER_ROW = 4;

/** Upper ends of the rows of a heat map, in milliseconds, ascending; the last row has all that took longer. */
export const heatBoundsMs: readonly number[] = Array.from(
  { length: Math.ceil((BUCKET_COUNT - 2) / BUCKETS_PER_ROW) + 2 },
  (_, row) => 2 ** (6 + row) / 1_000,
);

/** The row of a heat map that a bucket of the histogram belongs to. */
export const heatRowOf = (bucket: number): number =>
  bucket === 0 ? 0 : Math.min(heatBoundsMs.length - 1, 1 + Math.floor((bucket - 1) / BUCKETS_PER_ROW));

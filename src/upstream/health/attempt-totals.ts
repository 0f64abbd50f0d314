import { bucketOf, createHistogram } from '../../base/histogram.ts';

/** Attempts at a node since it was created. Recording allocates nothing. */
export class AttemptTotals {
  succeeded = 0;
  failed = 0;
  throttled = 0;
  readonly latencies = createHistogram();

  /** @param elapsedMs - null if the duration says nothing about the node. */
  record(kind: 'succeeded' | 'failed' | 'throttled', elapsedMs: number | null): void {
    this[kind]++;
    if (elapsedMs === null) return;
    const bucket = bucketOf(elapsedMs * 1_000);
    this.latencies[bucket] = (this.latencies[bucket] ?? 0) + 1;
  }
}

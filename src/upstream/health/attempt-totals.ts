import { bucketOf, createHistogram } from '../../base/histogram.ts';

export type AttemptKind = 'succeeded' | 'failed' | 'throttled';

/** Outcomes of attempts at a node, as far as the node decided them. Recording allocates nothing. */
export class AttemptTotals {
  succeeded = 0;
  failed = 0;
  throttled = 0;
  readonly latencies = createHistogram();

  get attempts(): number {
    return this.succeeded + this.failed + this.throttled;
  }

  /** @param elapsedMs - null if the duration says nothing about the node. */
  record(kind: AttemptKind, elapsedMs: number | null): void {
    this[kind]++;
    if (elapsedMs === null) return;
    const bucket = bucketOf(elapsedMs * 1_000);
    this.latencies[bucket] = (this.latencies[bucket] ?? 0) + 1;
  }
}

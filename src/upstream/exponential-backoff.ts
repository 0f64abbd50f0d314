/** Enough doublings to exceed any configurable maximum. */
const DOUBLINGS_MAX = 30;

/** @param failures - number of earlier failures; 0 for the first delay. */
export const exponentialBackoff = (firstMs: number, maxMs: number, failures: number): number =>
  Math.min(firstMs * 2 ** Math.min(failures, DOUBLINGS_MAX), maxMs);

/** Varies a delay by ±25 %, so that simultaneous failures are not retried simultaneously. */
export const withJitter = (ms: number): number => ms * (0.75 + Math.random() / 2);

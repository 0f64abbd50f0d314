/** With so many doublings the shortest pause that can be configured is longer than the longest one. */
const DOUBLINGS_MAX = 30;

/**
 * A pause before the next try that doubles with each failure.
 * @param firstMs - the pause after the first failure.
 * @param maxMs - the longest one.
 * @param failures - how many there were before this one.
 */
export const exponentialBackoff = (firstMs: number, maxMs: number, failures: number): number =>
  Math.min(firstMs * 2 ** Math.min(failures, DOUBLINGS_MAX), maxMs);

/** A pause up to a quarter shorter or longer: what failed together is not to be tried again together. */
export const withJitter = (ms: number): number => ms * (0.75 + Math.random() / 2);

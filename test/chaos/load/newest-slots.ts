import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';

/** The newest that was told at each commitment, in the order of `commitments`. */
export type Newest = readonly number[];

/**
 * What one session was told so far. It stands beside `protocol/slot-floor.ts` on purpose: who judges a gateway does not
 * judge by its code.
 */
export class NewestSlots {
  readonly #newest = commitments.map(() => 0);

  /** What was told until now: an answer to a request that begins now may not be older. */
  now(): Newest {
    return [...this.#newest];
  }

  /** An answer at this commitment came, and was of this slot. */
  observe(commitment: Commitment, slot: number): void {
    const at = commitments.indexOf(commitment);
    this.#newest[at] = Math.max(this.#newest[at] ?? 0, slot);
  }
}

/**
 * What is wrong with an answer, in words; null when nothing is. It may not be of an older slot than one that was told,
 * when its request began, at its commitment or a more settled one.
 */
export function findRegression(before: Newest, commitment: Commitment, slot: number): string | null {
  for (let at = commitments.indexOf(commitment); at < commitments.length; at++) {
    const observed = before[at] ?? 0;
    if (slot < observed) return `${slot} at ${commitment} after ${observed} at ${commitments[at]}`;
  }
  return null;
}

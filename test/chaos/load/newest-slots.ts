import { type Commitment, commitments } from '../../../src/protocol/commitment.ts';

/** Newest slot at each commitment, in the order of `commitments`. */
export type Newest = readonly number[];

/**
 * Newest slots observed by a session. Independent of the product's `MinSlot` on purpose: a check of the gateway must not
 * use its code.
 */
export class NewestSlots {
  readonly #newest = commitments.map(() => 0);

  /** Responses to requests that start now must not be older. */
  now(): Newest {
    return [...this.#newest];
  }

  /** Records the slot of a response. */
  observe(commitment: Commitment, slot: number): void {
    const at = commitments.indexOf(commitment);
    this.#newest[at] = Math.max(this.#newest[at] ?? 0, slot);
  }
}

/**
 * Describes a slot that is older than one observed at the same or a higher commitment when the request started; null
 * otherwise.
 */
export function findRegression(before: Newest, commitment: Commitment, slot: number): string | null {
  for (let at = commitments.indexOf(commitment); at < commitments.length; at++) {
    const observed = before[at] ?? 0;
    if (slot < observed) return `${slot} at ${commitment} after ${observed} at ${commitments[at]}`;
  }
  return null;
}

import { Turnstile } from '../../base/turnstile.ts';
import type { Slot } from '../../ledger/units.ts';

/** Somebody who waits for old slots to be told again. */
export type Waiting = { readonly from: Slot; isOver: boolean };

/** A telling that waits for its turn, and all who wait for it. */
type Joint = { readonly waiting: Waiting[]; done: Promise<void> };

/**
 * Tells old slots again for those who ask, a bounded number of tellings at a time. All who wait for a turn share the
 * next one, so that however many come back at once, each waits for two tellings at most; those who have gone are
 * asked for no more. No more wait than streams were opened during one telling, which plans and its timeout bound.
 */
export class Backfills {
  readonly #turns: Turnstile;
  readonly #tell: (from: Slot) => Promise<void>;
  #next: Joint | null = null;

  /**
   * @param max - tellings at a time.
   * @param tell - tells from a slot on. Never rejects.
   */
  constructor(max: number, tell: (from: Slot) => Promise<void>) {
    this.#turns = new Turnstile(max);
    this.#tell = tell;
  }

  /** Kept when all from its slot on was told again, as far as servers do. Never rejects. */
  add(waiting: Waiting): Promise<void> {
    if (this.#next !== null) {
      this.#next.waiting.push(waiting);
      return this.#next.done;
    }
    const joint: Joint = { waiting: [waiting], done: Promise.resolve() };
    this.#next = joint;
    joint.done = this.#turns.run(() => this.#begin(joint));
    return joint.done;
  }

  async #begin({ waiting }: Joint): Promise<void> {
    this.#next = null;
    let oldest: Slot | null = null;
    for (const { from, isOver } of waiting) if (!isOver && (oldest === null || from < oldest)) oldest = from;
    if (oldest !== null) await this.#tell(oldest);
  }
}

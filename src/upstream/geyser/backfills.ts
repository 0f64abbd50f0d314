import { Semaphore } from '../../base/concurrency/semaphore.ts';
import type { Slot } from '../../solana/units.ts';

/** Somebody who waits for old slots to be told again. */
export type BackfillWaiter = { readonly from: Slot; isCancelled: boolean };

/** A telling that waits for its turn, and all who wait for it. */
type SharedBackfill = { readonly waiters: BackfillWaiter[]; done: Promise<void> };

/**
 * Tells old slots again for those who ask, a bounded number of tellings at a time. All who wait for a turn share the
 * next one, so that however many come back at once, each waits for two tellings at most; those who have gone are
 * asked for no more. No more wait than streams were opened during one telling, which plans and its timeout bound.
 */
export class Backfills {
  readonly #semaphore: Semaphore;
  readonly #replay: (from: Slot) => Promise<void>;
  #next: SharedBackfill | null = null;

  /**
   * @param max - tellings at a time.
   * @param tell - tells from a slot on. Never rejects.
   */
  constructor(max: number, replay: (from: Slot) => Promise<void>) {
    this.#semaphore = new Semaphore(max);
    this.#replay = replay;
  }

  /** Kept when all from its slot on was told again, as far as servers do. Never rejects. */
  add(waiting: BackfillWaiter): Promise<void> {
    if (this.#next !== null) {
      this.#next.waiters.push(waiting);
      return this.#next.done;
    }
    const backfill: SharedBackfill = { waiters: [waiting], done: Promise.resolve() };
    this.#next = backfill;
    backfill.done = this.#semaphore.run(() => this.#start(backfill));
    return backfill.done;
  }

  async #start({ waiters }: SharedBackfill): Promise<void> {
    this.#next = null;
    let oldest: Slot | null = null;
    for (const { from, isCancelled } of waiters)
      if (!isCancelled && (oldest === null || from < oldest)) oldest = from;
    if (oldest !== null) await this.#replay(oldest);
  }
}

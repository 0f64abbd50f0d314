import type { Signature } from '../../solana/signature.ts';
import type { Transaction } from '../../solana/transaction/transaction.ts';

/** A transaction for which no block had room yet. */
type Waiting = {
  readonly transaction: Transaction;
  /** What it took of a block's capacity when it was last tried. */
  cost: bigint;
  /** It is tried again on this tip for the last time. */
  readonly lastTip: number;
  /** null for no bound. */
  retriesLeft: bigint | null;
};

/**
 * Transactions that wait for room in a block, oldest first. When as many wait as may, the newest is refused.
 * Source: agave send-transaction-service, whose retry pool is as large and drops the newest too, in silence.
 */
export class WaitingTransactions {
  readonly #max: number;
  readonly #entries = new Map<Signature, Waiting>();

  /** @param max - how many may wait. */
  constructor(max: number) {
    this.#max = max;
  }

  has(signature: Signature): boolean {
    return this.#entries.has(signature);
  }

  /** @returns false when there is no place for one more. */
  add(signature: Signature, entry: Waiting): boolean {
    if (this.#entries.size >= this.#max) return false;
    this.#entries.set(signature, entry);
    return true;
  }

  /**
   * Those for which a slot has room, by what they cost when they were last tried, oldest first.
   * @param tip - as with `offer`.
   * @param room - cost units that the slot still has.
   */
  fitting(tip: number, room: bigint): Transaction[] {
    const fitting: Transaction[] = [];
    let left = room;
    for (const { transaction, cost, lastTip } of this.#entries.values()) {
      if (tip > lastTip || cost > left) continue;
      fitting.push(transaction);
      left -= cost;
    }
    return fitting;
  }

  /**
   * Offers each of them to a new slot, once.
   * @param tip - slot below the new one; those that are too old for it are let go.
   * @param take - says what the transaction costs when there still is no room for it; null when it is done with.
   */
  offer(tip: number, take: (transaction: Transaction, cost: bigint) => bigint | null): void {
    for (const [signature, entry] of this.#entries) {
      const cost = tip > entry.lastTip ? null : take(entry.transaction, entry.cost);
      if (entry.retriesLeft !== null) entry.retriesLeft--;
      if (cost === null || entry.retriesLeft === 0n) this.#entries.delete(signature);
      else entry.cost = cost;
    }
  }
}

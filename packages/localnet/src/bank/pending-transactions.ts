import type { Signature } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';

/** Transaction waiting for block capacity. */
type Waiting = {
  readonly transaction: Transaction;
  /** Cost units of its last try. */
  cost: bigint;
  /** Tip of its last retry. */
  readonly lastTip: number;
  /** null for no limit. */
  retriesLeft: bigint | null;
};

/**
 * Transactions waiting for block capacity, oldest first. When full, the newest is rejected. Source: agave
 * send-transaction-service, whose retry pool has the same size and drops silently.
 */
export class WaitingTransactions {
  readonly #max: number;
  readonly #entries = new Map<Signature, Waiting>();

  constructor(max: number) {
    this.#max = max;
  }

  has(signature: Signature): boolean {
    return this.#entries.has(signature);
  }

  /** @returns false when full. */
  add(signature: Signature, entry: Waiting): boolean {
    if (this.#entries.size >= this.#max) return false;
    this.#entries.set(signature, entry);
    return true;
  }

  /**
   * Transactions that fit by their last known cost, oldest first.
   * @param tip - as with `offer`.
   * @param room - remaining cost units.
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
   * Offers each to a new slot once.
   * @param tip - parent slot; expired transactions are removed.
   * @param take - returns the cost if there is still no capacity, or null when done.
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

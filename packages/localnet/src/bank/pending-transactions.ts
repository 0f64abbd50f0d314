import type { Signature } from '../../../../src/solana/signature.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';

/** Transaction waiting for block capacity. */
type Waiting = {
  readonly transaction: Transaction;
  /** Cost units of its last execution. */
  cost: bigint;
  /** Last tip at which it may be retried. */
  readonly lastTip: number;
  /** null if unlimited. */
  retriesLeft: bigint | null;
};

/**
 * Transactions waiting for block capacity, oldest first. When full, new ones are rejected. Source: agave
 * send-transaction-service, whose retry pool has the same size but drops transactions silently.
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
   * Transactions whose last known costs fit into the remaining capacity, oldest first.
   * @param tip - as for `offer`.
   * @param capacity - remaining cost units.
   */
  fitting(tip: number, capacity: bigint): Transaction[] {
    const fitting: Transaction[] = [];
    let remaining = capacity;
    for (const { transaction, cost, lastTip } of this.#entries.values()) {
      if (tip > lastTip || cost > remaining) continue;
      fitting.push(transaction);
      remaining -= cost;
    }
    return fitting;
  }

  /**
   * Offers each transaction once to a new slot.
   * @param tip - parent slot; expired transactions are removed.
   * @param take - returns the cost if there is still no capacity; null if the transaction is done.
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

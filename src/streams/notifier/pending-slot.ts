import type { Address } from '../../solana/address.ts';
import type { Slot } from '../../solana/units.ts';
import type { AccountNotification } from './account-notification.ts';
import type { BlockNotification } from './block-notification.ts';
import type { TransactionNotification } from './transaction-notification.ts';

/** How far a slot has come: not told of yet, or told at a commitment and at those below it. */
export const levels = { none: 0, processed: 1, confirmed: 2, finalized: 3 } as const;
export type Level = (typeof levels)[keyof typeof levels];

/** What happened in a slot, until everybody who wants it has been told. */
export class PendingSlot {
  readonly slot: Slot;
  /** null when nobody told it: the slot is then taken to be on the chain. */
  parent: Slot | null = null;
  /** The level whose watchers have been told. */
  emittedLevel: Level = levels.none;
  /** The level that it came to before it was whole; its watchers are told then. */
  dueLevel: Level = levels.none;
  /** Somebody watched blocks when the slot began. */
  expectsBlock = false;
  block: BlockNotification | null = null;
  /** Each account as it was told last. */
  readonly accounts = new Map<Address, AccountNotification>();
  readonly transactions: TransactionNotification[] = [];
  #isCreated = false;
  #isFrozen = false;

  constructor(slot: Slot) {
    this.slot = slot;
  }

  create(parent: Slot): void {
    this.parent = parent;
    this.#isCreated = true;
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  /** Nothing more happens in it. Of a slot whose beginning was not told, the end is not told either. */
  get isComplete(): boolean {
    return this.#isFrozen || !this.#isCreated;
  }

  get size(): number {
    return this.accounts.size + this.transactions.length;
  }
}

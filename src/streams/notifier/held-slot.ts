import type { Address } from '../../ledger/address.ts';
import type { Slot } from '../../ledger/units.ts';
import type { ToldAccount } from './told-account.ts';
import type { ToldBlock } from './told-block.ts';
import type { ToldTransaction } from './told-transaction.ts';

/** How far a slot has come: not told of yet, or told at a commitment and at those below it. */
export const levels = { none: 0, processed: 1, confirmed: 2, finalized: 3 } as const;
export type Level = (typeof levels)[keyof typeof levels];

/** What happened in a slot, until everybody who wants it has been told. */
export class HeldSlot {
  readonly slot: Slot;
  /** null when nobody told it: the slot is then taken to be on the chain. */
  parent: Slot | null = null;
  /** The level whose watchers have been told. */
  reached: Level = levels.none;
  /** The level that it came to before it was whole; its watchers are told then. */
  due: Level = levels.none;
  /** Somebody watched blocks when the slot began. */
  expectsBlock = false;
  block: ToldBlock | null = null;
  /** Each account as it was told last. */
  readonly accounts = new Map<Address, ToldAccount>();
  readonly transactions: ToldTransaction[] = [];
  #created = false;
  #frozen = false;

  constructor(slot: Slot) {
    this.slot = slot;
  }

  create(parent: Slot): void {
    this.parent = parent;
    this.#created = true;
  }

  freeze(): void {
    this.#frozen = true;
  }

  /** Nothing more happens in it. Of a slot whose beginning was not told, the end is not told either. */
  get isWhole(): boolean {
    return this.#frozen || !this.#created;
  }

  get size(): number {
    return this.accounts.size + this.transactions.length;
  }
}

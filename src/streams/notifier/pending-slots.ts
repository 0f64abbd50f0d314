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

export type PendingSlotsOptions = Readonly<{
  /** Slots held between their creation and their root; beyond it the oldest is let go, and told. */
  slotsMax: number;
  /** Accounts and transactions held in all slots; beyond it the oldest slot is let go, and told. */
  entriesMax: number;
}>;

const bySlot = (a: PendingSlot, b: PendingSlot): number => (a.slot < b.slot ? -1 : a.slot > b.slot ? 1 : 0);

/** The slots between their creation and their root, with the links to their parents. */
export class PendingSlots {
  readonly #options: PendingSlotsOptions;
  readonly #onEvicted: (pending: PendingSlot) => void;
  readonly #slots = new Map<Slot, PendingSlot>();
  #entryCount = 0;

  /** @param onForgotten - called with a slot that is let go before it is over. */
  constructor(options: PendingSlotsOptions, onEvicted: (pending: PendingSlot) => void) {
    this.#options = options;
    this.#onEvicted = onEvicted;
  }

  get(slot: Slot): PendingSlot | undefined {
    return this.#slots.get(slot);
  }

  /** The slot, from now on held. */
  getOrCreate(slot: Slot): PendingSlot {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    const pending = new PendingSlot(slot);
    this.#slots.set(slot, pending);
    if (this.#slots.size > this.#options.slotsMax) this.#evictOldest(pending);
    return pending;
  }

  /** One more account or transaction is held in a slot. */
  count(pending: PendingSlot): void {
    this.#entryCount++;
    if (this.#entryCount > this.#options.entriesMax) this.#evictOldest(pending);
  }

  remove(slot: Slot): void {
    const pending = this.#slots.get(slot);
    if (pending === undefined) return;
    this.#slots.delete(slot);
    this.#entryCount -= pending.size;
  }

  /**
   * The slots that reach a level when a slot does: it and what it stands on, oldest first, but for those that
   * reached it already. Confirmed slots are never left by the chain, so a root reaches all of them below it.
   */
  slotsReaching(slot: Slot, level: Level): PendingSlot[] {
    const ancestors = this.#ancestorsOf(slot);
    const reaching: PendingSlot[] = [];
    for (const pending of this.#slots.values()) {
      if (pending.slot > slot || pending.emittedLevel >= level) continue;
      const isConfirmed = level === levels.finalized && pending.emittedLevel >= levels.confirmed;
      if (isConfirmed || pending.parent === null || ancestors.has(pending.slot)) reaching.push(pending);
    }
    return reaching.sort(bySlot);
  }

  /** Drops the slots up to a root: told to everybody, or left by the chain. Those that are due stay. */
  removeFinished(root: Slot): void {
    for (const pending of this.#slots.values()) {
      if (pending.slot <= root && pending.dueLevel <= pending.emittedLevel) this.remove(pending.slot);
    }
  }

  #ancestorsOf(slot: Slot): Set<Slot> {
    const ancestors = new Set<Slot>([slot]);
    let next = this.#slots.get(slot)?.parent ?? null;
    while (next !== null && !ancestors.has(next)) {
      ancestors.add(next);
      next = this.#slots.get(next)?.parent ?? null;
    }
    return ancestors;
  }

  /** The slot that is being filled is spared. */
  #evictOldest(except: PendingSlot): void {
    let oldest: PendingSlot | null = null;
    for (const pending of this.#slots.values()) {
      if (pending !== except && (oldest === null || pending.slot < oldest.slot)) oldest = pending;
    }
    if (oldest === null) return;
    this.remove(oldest.slot);
    this.#onEvicted(oldest);
  }
}

import type { Address } from '../../solana/address.ts';
import type { Slot } from '../../solana/units.ts';
import type { AccountNotification } from './account-notification.ts';
import type { BlockNotification } from './block-watchers.ts';
import type { TransactionNotification } from './transaction-notification.ts';

export const levels = { none: 0, processed: 1, confirmed: 2, finalized: 3 } as const;
export type Level = (typeof levels)[keyof typeof levels];

export class PendingSlot {
  readonly slot: Slot;
  /** Null if not reported; the slot is then assumed to be on the chain. */
  parent: Slot | null = null;
  emittedLevel: Level = levels.none;
  /** Level reached before the slot was complete; emitted once the slot is complete. */
  dueLevel: Level = levels.none;
  /** Whether there were block subscribers, or `retainUnsubscribed` was set, when the slot started. */
  expectsBlock = false;
  block: BlockNotification | null = null;
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

  /** A slot whose start was not reported counts as complete: its end is not reported either. */
  get isComplete(): boolean {
    return this.#isFrozen || !this.#isCreated;
  }

  get size(): number {
    return this.accounts.size + this.transactions.length;
  }
}

export const pendingSlotsOptions = {
  /** Maximum number of created slots that are not yet rooted; above this, the oldest is evicted and reported. */
  slotsMax: 512,
  /** Maximum accounts and transactions in all slots; above this number, the oldest slot is evicted and reported. */
  entriesMax: 1_000_000,
};

type PendingSlotsOptions = Readonly<typeof pendingSlotsOptions>;

const bySlot = (a: PendingSlot, b: PendingSlot): number => (a.slot < b.slot ? -1 : a.slot > b.slot ? 1 : 0);

export class PendingSlots {
  readonly #options: PendingSlotsOptions;
  readonly #onEvicted: (pending: PendingSlot) => void;
  readonly #slots = new Map<Slot, PendingSlot>();
  #entryCount = 0;

  /** `onEvicted` receives each slot that is evicted before it is finished. */
  constructor(options: PendingSlotsOptions, onEvicted: (pending: PendingSlot) => void) {
    this.#options = options;
    this.#onEvicted = onEvicted;
  }

  get(slot: Slot): PendingSlot | undefined {
    return this.#slots.get(slot);
  }

  getOrCreate(slot: Slot): PendingSlot {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    const pending = new PendingSlot(slot);
    this.#slots.set(slot, pending);
    if (this.#slots.size > this.#options.slotsMax) this.#evictOldest(pending);
    return pending;
  }

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
   * Returns the slots that reach a level when `slot` does, in ascending order. A confirmed slot is never abandoned, so
   * a root also finalizes all confirmed slots below it.
   */
  slotsReaching(slot: Slot, level: Level): PendingSlot[] {
    const ancestors = new Set<Slot>([slot]);
    let next = this.#slots.get(slot)?.parent ?? null;
    while (next !== null && !ancestors.has(next)) {
      ancestors.add(next);
      next = this.#slots.get(next)?.parent ?? null;
    }
    const reaching: PendingSlot[] = [];
    for (const pending of this.#slots.values()) {
      if (pending.slot > slot || pending.emittedLevel >= level) continue;
      const isConfirmed = level === levels.finalized && pending.emittedLevel >= levels.confirmed;
      if (isConfirmed || pending.parent === null || ancestors.has(pending.slot)) reaching.push(pending);
    }
    return reaching.sort(bySlot);
  }

  /** Removes slots up to a root: they are emitted or abandoned. Keeps slots whose `dueLevel` is yet to be emitted. */
  removeFinished(root: Slot): void {
    for (const pending of this.#slots.values()) {
      if (pending.slot <= root && pending.dueLevel <= pending.emittedLevel) this.remove(pending.slot);
    }
  }

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

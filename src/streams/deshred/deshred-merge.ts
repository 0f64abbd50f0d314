import { hash } from 'node:crypto';
import { Lru } from '../../base/cache/lru.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener, DeshredSlot, DeshredTransaction, EntryBatch } from './deshred-event.ts';

type DeshredMergeLimits = Readonly<{
  slotsTracked: number;
  /** Limit for transactions and, separately, for batches. Above the limit, duplicates are possible. */
  seenPerSlotMax: number;
}>;

type SlotState = Readonly<{ signatures: Set<string>; batches: Set<string>; statuses: Set<SlotStatus> }>;

/**
 * Merges sources and removes duplicates. Batches are compared by their bytes, because not every source knows shred
 * indexes. Sources may split batches differently; each transaction is still emitted once.
 */
export class DeshredMerge implements DeshredListener {
  readonly #listener: DeshredListener;
  readonly #slots: Lru<Slot, SlotState>;
  readonly #seenMax: number;
  duplicates = 0;

  constructor(listener: DeshredListener, { slotsTracked, seenPerSlotMax }: DeshredMergeLimits) {
    this.#listener = listener;
    this.#slots = new Lru(slotsTracked);
    this.#seenMax = seenPerSlotMax;
  }

  onBatch(batch: EntryBatch): void {
    const digest = hash('sha256', batch.entries, 'base64');
    if (this.#recordIfNew(this.#slotState(batch.slot).batches, digest)) this.#listener.onBatch(batch);
  }

  onTransaction(transaction: DeshredTransaction): void {
    const { signatures } = this.#slotState(transaction.slot);
    if (this.#recordIfNew(signatures, bytesKey(transaction.signature)))
      this.#listener.onTransaction(transaction);
    else this.duplicates++;
  }

  /** Handles a batch's transactions, in order. Does not remove repetitions within a batch: no valid block has any. */
  onTransactions(batch: readonly DeshredTransaction[]): void {
    const isNew = batch.map(
      ({ slot, signature }) => !this.#slotState(slot).signatures.has(bytesKey(signature)),
    );
    batch.forEach((transaction, index) => {
      if (isNew[index] !== true) {
        this.duplicates++;
        return;
      }
      this.#recordIfNew(this.#slotState(transaction.slot).signatures, bytesKey(transaction.signature));
      this.#listener.onTransaction(transaction);
    });
  }

  onSlot(slot: DeshredSlot): void {
    if (this.#recordIfNew(this.#slotState(slot.slot).statuses, slot.status)) this.#listener.onSlot(slot);
  }

  #slotState(slot: Slot): SlotState {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    const state: SlotState = { signatures: new Set(), batches: new Set(), statuses: new Set() };
    this.#slots.set(slot, state);
    return state;
  }

  /** At the limit, further keys are not recorded and always count as new: a duplicate is better than a loss. */
  #recordIfNew<T>(seen: Set<T>, key: T): boolean {
    if (seen.has(key)) return false;
    if (seen.size < this.#seenMax) seen.add(key);
    return true;
  }
}

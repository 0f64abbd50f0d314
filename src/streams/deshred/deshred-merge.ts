import { hash } from 'node:crypto';
import { Lru } from '../../base/cache/lru.ts';
import { bytesKey } from '../../base/text/bytes-key.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';
import type { DeshredListener, DeshredSlot, DeshredTransaction, EntryBatch } from './deshred-event.ts';

type DeshredMergeLimits = Readonly<{
  /** Slots of which is remembered what was told; those that nothing was heard of for longest are forgotten. */
  slotsTracked: number;
  /** Transactions, and as many batches, that are remembered of one slot; beyond it they may be told twice. */
  seenPerSlotMax: number;
}>;

/** What was told of a slot. */
type SlotState = Readonly<{ signatures: Set<string>; batches: Set<string>; statuses: Set<SlotStatus> }>;

/**
 * Makes one of several sources that tell the same: the first copy of everything wins, and each transaction of a slot,
 * each batch and each status is told once. Batches are the same when their bytes are, since not every source knows
 * their shreds; sources that cut them differently are told apart, and their transactions all the same are not doubled.
 */
export class DeshredMerge implements DeshredListener {
  readonly #listener: DeshredListener;
  readonly #slots: Lru<Slot, SlotState>;
  readonly #seenMax: number;
  /** Transactions that had been told before. */
  duplicates = 0;

  constructor(listener: DeshredListener, { slotsTracked, seenPerSlotMax }: DeshredMergeLimits) {
    this.#listener = listener;
    this.#slots = new Lru(slotsTracked);
    this.#seenMax = seenPerSlotMax;
  }

  onBatch(batch: EntryBatch): void {
    const digest = hash('sha256', batch.entries, 'base64');
    if (this.#isNew(this.#slotState(batch.slot).batches, digest)) this.#listener.onBatch(batch);
  }

  onTransaction(transaction: DeshredTransaction): void {
    const { signatures } = this.#slotState(transaction.slot);
    if (this.#isNew(signatures, bytesKey(transaction.signature))) this.#listener.onTransaction(transaction);
    else this.duplicates++;
  }

  /**
   * The transactions of one batch, in order. One that the batch itself holds several times is told as often: no
   * valid block does so, and it is not for the stream to judge.
   */
  onTransactions(batch: readonly DeshredTransaction[]): void {
    const isNew = batch.map(
      ({ slot, signature }) => !this.#slotState(slot).signatures.has(bytesKey(signature)),
    );
    batch.forEach((transaction, index) => {
      if (isNew[index] !== true) {
        this.duplicates++;
        return;
      }
      this.#isNew(this.#slotState(transaction.slot).signatures, bytesKey(transaction.signature));
      this.#listener.onTransaction(transaction);
    });
  }

  onSlot(slot: DeshredSlot): void {
    if (this.#isNew(this.#slotState(slot.slot).statuses, slot.status)) this.#listener.onSlot(slot);
  }

  #slotState(slot: Slot): SlotState {
    const existing = this.#slots.get(slot);
    if (existing !== undefined) return existing;
    const state: SlotState = { signatures: new Set(), batches: new Set(), statuses: new Set() };
    this.#slots.set(slot, state);
    return state;
  }

  /** Notes it where there is room: a doubled message is better than one that is lost. */
  #isNew<T>(seen: Set<T>, key: T): boolean {
    if (seen.has(key)) return false;
    if (seen.size < this.#seenMax) seen.add(key);
    return true;
  }
}

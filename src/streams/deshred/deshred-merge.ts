import { hash } from 'node:crypto';
import { bytesKey } from '../../base/bytes-key.ts';
import { Lru } from '../../base/lru.ts';
import type { Slot } from '../../ledger/units.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { DeshredListener, DeshredSlot, DeshredTransaction, EntryBatch } from './deshred-event.ts';

export type DeshredMergeLimits = Readonly<{
  /** Slots of which is remembered what was told; those that nothing was heard of for longest are forgotten. */
  slotsTracked: number;
  /** Transactions, and as many batches, that are remembered of one slot; beyond it they may be told twice. */
  seenPerSlotMax: number;
}>;

/** What was told of a slot. */
type Told = Readonly<{ signatures: Set<string>; batches: Set<string>; statuses: Set<SlotStatus> }>;

/**
 * Makes one of several sources that tell the same: the first copy of everything wins, and each transaction of a slot,
 * each batch and each status is told once. Batches are the same when their bytes are, since not every source knows
 * their shreds; sources that cut them differently are told apart, and their transactions all the same are not doubled.
 */
export class DeshredMerge implements DeshredListener {
  readonly #listener: DeshredListener;
  readonly #slots: Lru<Slot, Told>;
  readonly #seenMax: number;
  /** Transactions that had been told before. */
  doubled = 0;

  constructor(listener: DeshredListener, { slotsTracked, seenPerSlotMax }: DeshredMergeLimits) {
    this.#listener = listener;
    this.#slots = new Lru(slotsTracked);
    this.#seenMax = seenPerSlotMax;
  }

  batch(batch: EntryBatch): void {
    const digest = hash('sha256', batch.entries, 'base64');
    if (this.#isNew(this.#told(batch.slot).batches, digest)) this.#listener.batch(batch);
  }

  transaction(transaction: DeshredTransaction): void {
    const { signatures } = this.#told(transaction.slot);
    if (this.#isNew(signatures, bytesKey(transaction.signature))) this.#listener.transaction(transaction);
    else this.doubled++;
  }

  /**
   * The transactions of one batch, in order. One that the batch itself holds several times is told as often: no
   * valid block does so, and it is not for the stream to judge.
   */
  transactions(batch: readonly DeshredTransaction[]): void {
    const isNew = batch.map(({ slot, signature }) => !this.#told(slot).signatures.has(bytesKey(signature)));
    batch.forEach((transaction, index) => {
      if (isNew[index] !== true) {
        this.doubled++;
        return;
      }
      this.#isNew(this.#told(transaction.slot).signatures, bytesKey(transaction.signature));
      this.#listener.transaction(transaction);
    });
  }

  slot(slot: DeshredSlot): void {
    if (this.#isNew(this.#told(slot.slot).statuses, slot.status)) this.#listener.slot(slot);
  }

  #told(slot: Slot): Told {
    const known = this.#slots.get(slot);
    if (known !== undefined) return known;
    const told: Told = { signatures: new Set(), batches: new Set(), statuses: new Set() };
    this.#slots.set(slot, told);
    return told;
  }

  /** Notes it where there is room: a doubled message is better than one that is lost. */
  #isNew<T>(told: Set<T>, key: T): boolean {
    if (told.has(key)) return false;
    if (told.size < this.#seenMax) told.add(key);
    return true;
  }
}

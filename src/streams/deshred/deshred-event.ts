import type { DeshredTransactionUpdate } from '../../protocol/geyser/read-deshred-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';

/** Entries before execution: the data after one data-complete shred, up to and including the next such shred. */
export type EntryBatch = Readonly<{
  slot: Slot;
  /** Bincode-encoded `Vec<Entry>`, without padding. */
  entries: Uint8Array;
  /** Both indexes are 0 if the source does not report them. */
  firstShredIndex: number;
  endShredIndex: number;
  /** Completion time in Unix milliseconds. */
  at: bigint;
}>;

/** A transaction before execution. Addresses from unknown lookup tables are omitted. */
export type DeshredTransaction = Omit<DeshredTransactionUpdate, 'kind'> &
  Readonly<{
    /** Time at which the batch was complete or the source sent the transaction, in Unix milliseconds. */
    at: bigint;
  }>;

/** `firstShredReceived` and `completed` come from shreds, the other statuses from a validator. */
export type DeshredSlot = Readonly<{
  slot: Slot;
  parent: Slot | null;
  status: SlotStatus;
  deadError?: string | null;
  at: bigint;
}>;

export interface DeshredListener {
  /** Called before the batch's transactions. Not called for sources without batches. */
  onBatch(batch: EntryBatch): void;
  onTransaction(transaction: DeshredTransaction): void;
  onSlot(slot: DeshredSlot): void;
}

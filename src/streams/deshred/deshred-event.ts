import type { DeshredTransactionUpdate } from '../../protocol/geyser/read-deshred-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';

/** Entries before execution: the data that follows a data-complete shred, up to and including the next such shred. */
export type EntryBatch = Readonly<{
  slot: Slot;
  /** Bincode-encoded `Vec<Entry>`, without padding. */
  entries: Uint8Array;
  /** 0, like `endShredIndex`, if the source does not report shred indexes. */
  firstShredIndex: number;
  endShredIndex: number;
  /** Time at which the batch was complete, in Unix milliseconds. */
  at: bigint;
}>;

/** A transaction before execution. Addresses from unknown lookup tables are omitted. */
export type DeshredTransaction = Omit<DeshredTransactionUpdate, 'kind'> &
  Readonly<{
    /** Time at which the entry batch was complete, or the source sent the transaction, in Unix milliseconds. */
    at: bigint;
  }>;

/** The statuses `firstShredReceived` and `completed` come from shreds; a validator reports the others. */
export type DeshredSlot = Readonly<{
  slot: Slot;
  parent: Slot | null;
  status: SlotStatus;
  deadError?: string | null;
  at: bigint;
}>;

export interface DeshredListener {
  /** Called before `onTransaction` is called for the batch's transactions. Sources without batches never call it. */
  onBatch(batch: EntryBatch): void;
  onTransaction(transaction: DeshredTransaction): void;
  onSlot(slot: DeshredSlot): void;
}

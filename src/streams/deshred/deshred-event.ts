import type { DeshredTransactionUpdate } from '../../protocol/geyser/read-deshred-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';

/** Entries before execution: the data between two shreds that complete data. */
export type EntryBatch = Readonly<{
  slot: Slot;
  /** Bincode `Vec<Entry>`, without padding. */
  entries: Uint8Array;
  /** 0 and 0 if the source does not report shred indexes. */
  firstShredIndex: number;
  endShredIndex: number;
  /** Completion time, Unix milliseconds. */
  at: bigint;
}>;

/** A transaction before execution. Addresses of unknown lookup tables are omitted. */
export type DeshredTransaction = Omit<DeshredTransactionUpdate, 'kind'> &
  Readonly<{
    /** Unix milliseconds, when its batch was complete or its source sent it. */
    at: bigint;
  }>;

/** Shreds report `firstShredReceived` and `completed`; a validator reports the others. */
export type DeshredSlot = Readonly<{
  slot: Slot;
  parent: Slot | null;
  status: SlotStatus;
  deadError?: string | null;
  at: bigint;
}>;

export interface DeshredListener {
  /** Not called for sources without batches. Precedes the batch's transactions. */
  onBatch(batch: EntryBatch): void;
  onTransaction(transaction: DeshredTransaction): void;
  onSlot(slot: DeshredSlot): void;
}

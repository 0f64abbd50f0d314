import type { DeshredTransactionUpdate } from '../../protocol/geyser/read-deshred-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Slot } from '../../solana/units.ts';

/** Entries that a leader sent as one, before anybody ran them: what lies between two shreds that complete data. */
export type EntryBatch = Readonly<{
  slot: Slot;
  /** Bincode `Vec<Entry>`, without padding. */
  entries: Uint8Array;
  /** Shreds that carry it; 0 and 0 where the source does not tell. */
  firstShredIndex: number;
  endShredIndex: number;
  /** When it was whole, Unix milliseconds. */
  at: bigint;
}>;

/**
 * A transaction before anybody ran it, from whatever source. Where a lookup table is not known, what it would load is
 * left out.
 */
export type DeshredTransaction = Omit<DeshredTransactionUpdate, 'kind'> &
  Readonly<{
    /** When its batch was whole, or its source told it, Unix milliseconds. */
    at: bigint;
  }>;

/** How far a slot came: shreds tell `firstShredReceived` and `completed`; the rest is told by who runs it. */
export type DeshredSlot = Readonly<{
  slot: Slot;
  parent: Slot | null;
  status: SlotStatus;
  /** Why, when it is dead. */
  deadError?: string | null;
  at: bigint;
}>;

/** Whoever hears what sources of the shred stage tell, each thing once. */
export interface DeshredListener {
  /** Not told by sources that know single transactions only. Comes before its transactions. */
  onBatch(batch: EntryBatch): void;
  onTransaction(transaction: DeshredTransaction): void;
  onSlot(slot: DeshredSlot): void;
}

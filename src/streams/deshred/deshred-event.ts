import type { Slot } from '../../ledger/units.ts';
import type { RawKeys } from '../../protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';

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

/** A transaction of a batch. Its bytes are views into the batch. */
export type DeshredTransaction = Readonly<{
  slot: Slot;
  /** 64 bytes. */
  signature: Uint8Array;
  isVote: boolean;
  /** The wire form; null where the source told only the message below. */
  wire: Uint8Array | null;
  /** `solana.storage.ConfirmedBlock.Transaction`, encoded. */
  transaction: Uint8Array;
  /** Static keys, then loaded ones as far as their tables are known. */
  keys: RawKeys;
  /** 32 bytes each; empty where a table is not known. */
  loadedWritable: readonly Uint8Array[];
  loadedReadonly: readonly Uint8Array[];
  firstShredIndex: number;
  endShredIndex: number;
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
  batch(batch: EntryBatch): void;
  transaction(transaction: DeshredTransaction): void;
  slot(slot: DeshredSlot): void;
}

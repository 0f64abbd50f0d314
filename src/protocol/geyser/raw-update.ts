import type { Lamports, Slot } from '../../solana/units.ts';
import type { SlotStatus } from './update/slot.ts';

/**
 * Updates as bytes, with views into them of what filters look at. Nothing in them is ever modified, and nothing is
 * decoded that nobody asks for. They come from another server's stream as they stood there, or from our own
 * encoders.
 */
type Raw = Readonly<{
  slot: Slot;
  /**
   * `SubscribeUpdate` without its `filters`: the kind's own message in its field, then `created_at`. With the
   * encoded names of filters before it, it is a whole message of the stream.
   */
  tail: Uint8Array;
  /** `google.protobuf.Timestamp`, encoded: when the plugin had it from its node. */
  createdAt: Uint8Array;
}>;

/** A write of an account. Source: geyser.proto, `SubscribeUpdateAccount`. */
export type RawAccount = Raw &
  Readonly<{
    kind: 'account';
    /** `SubscribeUpdateAccountInfo`. */
    info: Uint8Array;
    /** 32 bytes. */
    address: Uint8Array;
    /** 32 bytes. */
    owner: Uint8Array;
    lamports: Lamports;
    data: Uint8Array;
    writeVersion: bigint;
    /** Whose count `writeVersion` is, a stream of a node: those of two have nothing to do with each other. */
    origin?: object;
    /** 64 bytes; null where the slot itself wrote it, and not a transaction. */
    signature: Uint8Array | null;
    isStartup: boolean;
  }>;

/** Account keys of a transaction: each 32 bytes of `bytes` from one of the offsets on. */
export type RawKeys = Readonly<{ bytes: Uint8Array; offsets: readonly number[] }>;

/**
 * A transaction and, but for the shred stage, what it left behind. Source: geyser.proto, `SubscribeUpdateTransaction`.
 */
export type RawTransaction = Raw &
  Readonly<{
    kind: 'transaction';
    /** `SubscribeUpdateTransactionInfo`. */
    info: Uint8Array;
    /** 64 bytes. */
    signature: Uint8Array;
    isVote: boolean;
    /** Of the transaction in its block; on the shred stage the order in which those of a slot were told. */
    index: number;
    /** `solana.storage.ConfirmedBlock.TransactionError`; null when it succeeded, or is not known to have failed. */
    err: Uint8Array | null;
    /** Static keys, loaded writable keys, loaded readonly keys. */
    keys: RawKeys;
    /** `TransactionStatusMeta`; null on the shred stage. */
    meta: Uint8Array | null;
  }>;

/** Source: geyser.proto, `SubscribeUpdateEntry`. */
export type RawEntry = Raw & Readonly<{ kind: 'entry'; message: Uint8Array; index: number }>;

/** Source: geyser.proto, `SubscribeUpdateBlockMeta`. */
export type RawBlockMeta = Raw &
  Readonly<{
    kind: 'blockMeta';
    message: Uint8Array;
    blockhash: string;
    blockHeight: bigint | null;
    parentSlot: Slot;
    executedTransactionCount: number;
    entriesCount: number;
    /**
     * Writes of accounts in the block, where the source does not tell them all but knows their number; null where
     * those that were told are to be counted.
     */
    updatedAccountCount: number | null;
  }>;

/** Source: geyser.proto, `SubscribeUpdateSlot`. */
export type RawSlot = Raw &
  Readonly<{ kind: 'slot'; parent: Slot | null; status: SlotStatus; deadError: string | null }>;

/**
 * What a ledger tells on the way to streams. Of one slot: created bank, then transactions, accounts and entries as
 * they come, then its block meta, then `processed`; later `confirmed`, then `finalized`. Whoever tells it sees to it
 * that a slot is told whole before it is `processed`, and nothing twice.
 */
export type RawUpdate = RawAccount | RawTransaction | RawEntry | RawBlockMeta | RawSlot;

/** Every kind of update there is. */
export const updateKinds: ReadonlySet<RawUpdate['kind']> = new Set([
  'account',
  'transaction',
  'entry',
  'blockMeta',
  'slot',
]);

/** A whole block, put together from what was told of its slot; of accounts the last write of each. */
export type RawBlock = Readonly<{
  kind: 'block';
  slot: Slot;
  /** When it was put together. */
  createdAt: Uint8Array;
  meta: RawBlockMeta;
  transactions: readonly RawTransaction[];
  accounts: readonly RawAccount[];
  entries: readonly RawEntry[];
  updatedAccountCount: number;
}>;

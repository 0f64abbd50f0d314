import type { Lamports, Slot } from '../../solana/units.ts';
import type { SlotStatus } from './update/slot.ts';

/** Encoded update with views of the fields that filters use. Immutable. Source: geyser.proto, `SubscribeUpdate…`. */
type Raw = Readonly<{
  slot: Slot;
  /** `SubscribeUpdate` without `filters`: a complete message once encoded filter names are prepended. */
  tail: Uint8Array;
  /** Encoded `google.protobuf.Timestamp`. */
  createdAt: Uint8Array;
}>;

export type RawAccount = Raw &
  Readonly<{
    kind: 'account';
    /** `SubscribeUpdateAccountInfo`. */
    info: Uint8Array;
    address: Uint8Array;
    owner: Uint8Array;
    lamports: Lamports;
    data: Uint8Array;
    writeVersion: bigint;
    /** Stream from which the update came; write versions from different streams are not comparable. */
    origin?: object;
    /** null if no transaction wrote the account. */
    signature: Uint8Array | null;
    isStartup: boolean;
  }>;

/** Account keys of a transaction: 32 bytes at each offset. */
export type RawKeys = Readonly<{ bytes: Uint8Array; offsets: readonly number[] }>;

export type RawTransaction = Raw &
  Readonly<{
    kind: 'transaction';
    /** `SubscribeUpdateTransactionInfo`. */
    info: Uint8Array;
    signature: Uint8Array;
    isVote: boolean;
    /** Index in the block. At the shred stage, the position among the slot's emitted transactions. */
    index: number;
    /** `solana.storage.ConfirmedBlock.TransactionError`; null on success or if unknown. */
    err: Uint8Array | null;
    /** Static keys, then loaded writable keys, then loaded readonly keys. */
    keys: RawKeys;
    /** `TransactionStatusMeta`; null at the shred stage. */
    meta: Uint8Array | null;
  }>;

export type RawEntry = Raw & Readonly<{ kind: 'entry'; message: Uint8Array; index: number }>;

export type RawBlockMeta = Raw &
  Readonly<{
    kind: 'blockMeta';
    message: Uint8Array;
    blockhash: string;
    blockHeight: bigint | null;
    parentSlot: Slot;
    executedTransactionCount: number;
    entriesCount: number;
    /** Number of updated accounts if the source does not send them all; null: the received accounts are counted. */
    updatedAccountCount: number | null;
  }>;

export type RawSlot = Raw &
  Readonly<{ kind: 'slot'; parent: Slot | null; status: SlotStatus; deadError: string | null }>;

/**
 * Order within a slot: created bank; transactions, accounts and entries; block meta; `processed`. The source sends
 * the complete slot before `processed` and never repeats an update.
 */
export type RawUpdate = RawAccount | RawTransaction | RawEntry | RawBlockMeta | RawSlot;

export const updateKinds: ReadonlySet<RawUpdate['kind']> = new Set([
  'account',
  'transaction',
  'entry',
  'blockMeta',
  'slot',
]);

/** Complete block, with the last write of each account. */
export type RawBlock = Readonly<{
  kind: 'block';
  slot: Slot;
  /** Time at which the block was assembled. */
  createdAt: Uint8Array;
  meta: RawBlockMeta;
  transactions: readonly RawTransaction[];
  accounts: readonly RawAccount[];
  entries: readonly RawEntry[];
  updatedAccountCount: number;
}>;

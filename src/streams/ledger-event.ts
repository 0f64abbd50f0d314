import type { EntryUpdate } from '../protocol/geyser/update/entry.ts';
import type { Account } from '../solana/account/account.ts';
import type { Address } from '../solana/address.ts';
import type { Block, ExecutedTransaction } from '../solana/block.ts';
import type { Blockhash } from '../solana/blockhash.ts';
import type { Signature } from '../solana/signature.ts';
import type { Slot } from '../solana/units.ts';

/** Statistics of a frozen slot. Source: Agave rpc-client-types `SlotTransactionStats`. */
export type SlotStats = Readonly<{
  numTransactionEntries: bigint;
  numSuccessfulTransactions: bigint;
  numFailedTransactions: bigint;
  maxTransactionsPerEntry: bigint;
}>;

/** A vote as received over gossip. Source: Agave rpc-client-api `RpcVote`. */
export type GossipVote = Readonly<{
  votePubkey: Address;
  slots: readonly Slot[];
  hash: Blockhash;
  /** Unix seconds. */
  timestamp: bigint | null;
  signature: Signature;
}>;

export type AccountEvent = Readonly<{
  kind: 'account';
  slot: Slot;
  address: Address;
  /** null if the account was closed. */
  account: Account | null;
  /** null if slot processing, not a transaction, wrote the account. */
  signature: Signature | null;
  /** Increases with each write on a node; not comparable across nodes. */
  writeVersion: bigint;
}>;

/**
 * Events arrive in order (reference solana-json-rpc.md §3.2, last lines). Per slot: created; transactions, accounts
 * and entries; frozen and block; processed; later confirmed; later rooted. Sources that read confirmed blocks
 * emit only `transaction`, `block` and what follows `block`. `at` is Unix milliseconds.
 */
export type LedgerEvent = Readonly<
  | { kind: 'firstShred'; slot: Slot; at: bigint }
  | { kind: 'completed'; slot: Slot; at: bigint }
  | { kind: 'created'; slot: Slot; parent: Slot; root: Slot; at: bigint }
  | { kind: 'received'; signature: Signature; slot: Slot }
  | { kind: 'transaction'; slot: Slot; index: number; executed: ExecutedTransaction; isVote: boolean }
  | AccountEvent
  /** Emitted after the entry's transactions. */
  | EntryUpdate
  | { kind: 'frozen'; slot: Slot; stats: SlotStats; at: bigint }
  | { kind: 'dead'; slot: Slot; err: string; at: bigint }
  /** Emitted before `confirmed`. */
  | { kind: 'block'; block: Block }
  /** The slot became the tip of the chain at `processed`. */
  | { kind: 'processed'; slot: Slot }
  | { kind: 'confirmed'; slot: Slot; at: bigint }
  | { kind: 'rooted'; slot: Slot; at: bigint }
  | { kind: 'vote'; vote: GossipVote }
>;

export type EventOf<Kind extends LedgerEvent['kind']> = Extract<LedgerEvent, { kind: Kind }>;

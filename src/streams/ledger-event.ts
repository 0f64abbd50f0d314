import type { EntryUpdate } from '../protocol/geyser/update/entry.ts';
import type { Account } from '../solana/account/account.ts';
import type { Address } from '../solana/address.ts';
import type { Block, ExecutedTransaction } from '../solana/block.ts';
import type { Blockhash } from '../solana/blockhash.ts';
import type { Signature } from '../solana/signature.ts';
import type { Slot } from '../solana/units.ts';

/** What a frozen slot holds. Source: Agave rpc-client-types `SlotTransactionStats`. */
export type SlotStats = Readonly<{
  numTransactionEntries: bigint;
  numSuccessfulTransactions: bigint;
  numFailedTransactions: bigint;
  maxTransactionsPerEntry: bigint;
}>;

/** A vote as gossip carries it. Source: Agave rpc-client-api `RpcVote`. */
export type GossipVote = Readonly<{
  votePubkey: Address;
  slots: readonly Slot[];
  hash: Blockhash;
  /** Unix seconds. */
  timestamp: bigint | null;
  signature: Signature;
}>;

/** An account as a transaction, or the slot, left it. */
export type AccountEvent = Readonly<{
  kind: 'account';
  slot: Slot;
  address: Address;
  /** null when drained. */
  account: Account | null;
  /** The transaction that wrote it; null where the slot itself did. */
  signature: Signature | null;
  /** Grows with every write that one node tells; says nothing across nodes. */
  writeVersion: bigint;
}>;

/**
 * What a ledger tells, in the order in which it happened (reference solana-json-rpc.md §3.2, last lines). Of one
 * slot: created, then transactions, accounts and entries, then frozen and block, then processed, later confirmed,
 * later rooted. A source that learns of blocks only when they are confirmed leaves out what comes before. `at` is Unix
 * milliseconds.
 */
export type LedgerEvent = Readonly<
  | { kind: 'firstShred'; slot: Slot; at: bigint }
  | { kind: 'completed'; slot: Slot; at: bigint }
  /** A bank was made for the slot: transactions may run in it. */
  | { kind: 'created'; slot: Slot; parent: Slot; root: Slot; at: bigint }
  /** A transaction was seen and has not run yet. */
  | { kind: 'received'; signature: Signature; slot: Slot }
  | { kind: 'transaction'; slot: Slot; index: number; executed: ExecutedTransaction; isVote: boolean }
  | AccountEvent
  /** A link of the slot's chain of hashes; told after its transaction. */
  | EntryUpdate
  | { kind: 'frozen'; slot: Slot; stats: SlotStats; at: bigint }
  | { kind: 'dead'; slot: Slot; err: string; at: bigint }
  /** The whole block, told before it is confirmed. */
  | { kind: 'block'; block: Block }
  /** The slot is the tip that `processed` reads see. */
  | { kind: 'processed'; slot: Slot }
  | { kind: 'confirmed'; slot: Slot; at: bigint }
  | { kind: 'rooted'; slot: Slot; at: bigint }
  | { kind: 'vote'; vote: GossipVote }
>;

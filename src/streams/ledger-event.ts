import type { Account } from '../ledger/account/account.ts';
import type { Address } from '../ledger/address.ts';
import type { Block, ExecutedTransaction } from '../ledger/block.ts';
import type { Blockhash } from '../ledger/blockhash.ts';
import type { Signature } from '../ledger/signature.ts';
import type { Slot } from '../ledger/units.ts';

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

/**
 * What a ledger tells, in the order in which it happened (reference solana-json-rpc.md §3.2, last lines). Of one
 * slot: created, then transactions and accounts, then frozen and block, then processed, later confirmed, later
 * rooted. A source that learns of blocks only when they are confirmed leaves out what comes before. `at` is Unix
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
  /** An account as a transaction, or the slot, left it; null when drained. */
  | { kind: 'account'; slot: Slot; address: Address; account: Account | null }
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

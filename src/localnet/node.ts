import type { Commitment } from '../protocol/commitment.ts';
import type { Account } from '../solana/account/account.ts';
import type { Address } from '../solana/address.ts';
import type { Block } from '../solana/block.ts';
import type { Blockhash } from '../solana/blockhash.ts';
import type { Signature } from '../solana/signature.ts';
import type { Transaction } from '../solana/transaction/transaction.ts';
import type { TransactionError } from '../solana/transaction/transaction-error.ts';
import type { Epoch, Lamports, Slot } from '../solana/units.ts';
import type { OwnMeta } from './bank/execution-meta.ts';
import type { AddressHistoryQuery } from './history/address-history.ts';
import type { PerformanceSample } from './history/performance-samples.ts';

/**
 * What the embedded ledger's RPC methods see of it. One linear fork: `processed` is the last frozen slot,
 * `confirmed` trails it by 1 and `finalized` by 31; transactions run in the open slot above the tip and become
 * visible when that slot freezes.
 */
export interface LocalNode {
  readonly genesis: Genesis;
  readonly history: History;
  /** The state at a commitment. The same object until the next slot freezes. */
  bank(commitment: Commitment): Bank;
  /** The slot of the newest snapshot on disk; null for none. */
  snapshotSlot(): Slot | null;
  /** What the status cache (the last 150 blockhashes, and 300 slots) knows of a signature, frozen slots only. */
  recentStatus(signature: Signature): SignatureStatus | null;
  /** Runs a transaction against a bank's state, without effect. */
  simulate(transaction: Transaction, bank: Bank, options: SimulateOptions): Simulation;
  /**
   * Runs a transaction in the open slot. A transaction that cannot be charged a fee (unknown or too old
   * blockhash, no fee payer, already processed) leaves no trace, as on a real node.
   * @returns null when it succeeded, else its error. One that failed is in the block all the same, unless it could
   * not be charged or the slot has no room for it.
   */
  submit(transaction: Transaction): TransactionError | null;
  /**
   * Runs a transaction as `submit` does, but lets one for which the open slot has no room wait: it is tried again
   * in each of the next slots until it runs, its blockhash has expired, or its tries are used up.
   * @param maxRetries - slots in which it is tried again at most; no bound when absent.
   * @returns whether it was taken, whatever then becomes of it, or could not even wait; later, where transactions
   * leave as shreds before they run.
   */
  send(transaction: Transaction, maxRetries?: bigint): Sent | Promise<Sent>;
  /** Transfers from the faucet; the transaction is signed by the ledger itself and sent as with `send`. */
  airdrop(to: Address, lamports: Lamports, recentBlockhash?: Blockhash): Airdropped | Promise<Airdropped>;
  /**
   * What ended the making of slots, such as a disk that refused a write; null while all is well. After it
   * `submit`, `send` and `airdrop` throw, and reads go on.
   */
  readonly failure: Error | null;
  /** Highest slot whose record is on disk. */
  readonly durableSlot: Slot;
  /** Where the node is reached; absent until its sockets are open. */
  contact?: Contact | undefined;
}

/** What is known of a transaction that was sent. */
export type Sent = 'taken' | 'queue full';
/** The signature of the transfer, or why there is none. */
export type Airdropped = Signature | 'insufficient' | 'queue full';

/** Addresses as "ip:port"; null where the service is not offered. */
export type Contact = Readonly<{ gossip: string | null; rpc: string | null; pubsub: string | null }>;

export type EpochSchedule = Readonly<{
  slotsPerEpoch: bigint;
  leaderScheduleSlotOffset: bigint;
  warmup: boolean;
  firstNormalEpoch: bigint;
  firstNormalSlot: bigint;
}>;

/** What never changes in the life of a ledger. */
export type Genesis = Readonly<{
  hash: Blockhash;
  /** Unix seconds. */
  creationTime: bigint;
  identity: Address;
  voteAccount: Address;
  stakeAccount: Address;
  faucet: Address;
  epochSchedule: EpochSchedule;
  ticksPerSlot: number;
  slotMs: number;
}>;

export type Clock = Readonly<{
  slot: Slot;
  epochStartTimestamp: bigint;
  epoch: Epoch;
  leaderScheduleEpoch: Epoch;
  unixTimestamp: bigint;
}>;

/** The state of the ledger after one frozen slot; readable for as long as the slot is within 32 of the tip. */
export interface Bank {
  readonly slot: Slot;
  readonly parentSlot: Slot;
  readonly blockHeight: bigint;
  readonly blockhash: Blockhash;
  readonly epoch: Epoch;
  readonly clock: Clock;
  /** Transactions since genesis. */
  readonly transactionCount: bigint;
  /** Sum of the lamports of all accounts. */
  readonly capitalization: Lamports;
  /** null when absent or drained. Sysvars are answered in full size. */
  account(address: Address): Account | null;
  /** Accounts owned by a program, in no order. */
  accountsByOwner(program: Address): Iterable<readonly [Address, Account]>;
  /** Token and Token-2022 accounts (not mints) by the wallet in them. */
  tokenAccountsByOwner(wallet: Address): Iterable<readonly [Address, Account]>;
  tokenAccountsByDelegate(delegate: Address): Iterable<readonly [Address, Account]>;
  tokenAccountsByMint(mint: Address): Iterable<readonly [Address, Account]>;
  /** Every account; a scan. */
  accounts(): Iterable<readonly [Address, Account]>;
  /** Whether a transaction with this blockhash may still run on this bank (age ≤ 150). */
  isBlockhashValid(blockhash: Blockhash): boolean;
  /** Last block height at which the blockhash is valid; null when it is not known here. */
  lastValidBlockHeight(blockhash: Blockhash): bigint | null;
}

export type SignatureStatus = Readonly<{ slot: Slot; err: TransactionError | null }>;

/** One line of an address's history. */
export type AddressSignature = Readonly<{
  signature: Signature;
  slot: Slot;
  /** Position in its block. */
  index: number;
}>;

/** Frozen blocks and the indexes over them. Holds slots up to the processed tip; callers check commitment. */
export interface History {
  readonly firstAvailableSlot: Slot;
  /** null when the slot was cleaned up or has not frozen. */
  block(slot: Slot): Block | null;
  /** Block time without reading the block's transactions; null as above. */
  blockTime(slot: Slot): bigint | null;
  /** Places of the transactions that an address had part in. */
  transactionsOf(
    address: Address,
    query: AddressHistoryQuery,
  ): readonly Readonly<{ slot: Slot; index: number }>[];
  /** Slots with transactions, newest first, of those up to a slot; at most `limit`. */
  slotsInUse(newest: Slot, limit: number): Slot[];
  /** How many slots and transactions the last minutes had, newest first. */
  performanceSamples(limit: number): PerformanceSample[];
  /** Where a transaction stands. */
  locate(signature: Signature): Readonly<{ slot: Slot; index: number; err: TransactionError | null }> | null;
  /**
   * Newest first, entries at or below `highestSlot`. Starts after `before` and stops before `until`.
   */
  signaturesForAddress(
    address: Address,
    options: Readonly<{ limit: number; highestSlot: Slot; before?: Signature; until?: Signature }>,
  ): AddressSignature[];
}

export type SimulateOptions = Readonly<{
  sigVerify: boolean;
  /** Run it with the newest blockhash in place of its own, which need not be valid then. */
  replaceRecentBlockhash: boolean;
  /** Whether the answer lists the instructions that programs called. */
  innerInstructions: boolean;
}>;

/** Source: reference §1.10. */
export type Simulation = Readonly<{
  err: TransactionError | null;
  logs: readonly string[];
  unitsConsumed: bigint;
  loadedAccountsDataSize: number;
  returnData: OwnMeta['returnData'];
  /** null when they were not asked for, or nothing ran. */
  innerInstructions: OwnMeta['innerInstructions'] | null;
  /** State after the run, for the keys of the transaction that it could write. Empty after a failure. */
  postAccounts: ReadonlyMap<Address, Account>;
  replacementBlockhash: Readonly<{ blockhash: Blockhash; lastValidBlockHeight: bigint }> | null;
  /** null when the transaction could not even be charged. */
  fee: Lamports | null;
  /** null (all four) when its signatures were wrong: nobody looked further. */
  preBalances: readonly Lamports[] | null;
  postBalances: readonly Lamports[] | null;
  preTokenBalances: OwnMeta['preTokenBalances'] | null;
  postTokenBalances: OwnMeta['postTokenBalances'] | null;
  loadedAddresses: OwnMeta['loadedAddresses'] | null;
}>;

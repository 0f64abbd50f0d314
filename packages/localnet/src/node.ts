import type { Commitment } from '../../../src/protocol/commitment.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import type { Address } from '../../../src/solana/address.ts';
import type { Block } from '../../../src/solana/block.ts';
import type { Blockhash } from '../../../src/solana/blockhash.ts';
import type { Signature } from '../../../src/solana/signature.ts';
import type { Transaction } from '../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../src/solana/transaction/transaction-error.ts';
import type { Epoch, Lamports, Slot } from '../../../src/solana/units.ts';
import type { OwnMeta } from './bank/token-balances.ts';
import type { AddressHistoryQuery } from './history/address-history.ts';
import type { PerformanceSample } from './history/performance-samples.ts';

/**
 * The ledger as its RPC methods see it. One fork: `processed` is the last frozen slot, `confirmed` trails by
 * 1, `finalized` by 31; transactions become visible when the open slot freezes.
 */
export interface LocalNode {
  readonly genesis: Genesis;
  readonly history: History;
  /** Identical object until the next slot freezes. */
  bank(commitment: Commitment): Bank;
  /** Newest snapshot on disk, or null. */
  snapshotSlot(): Slot | null;
  /** Status cache (150 blockhashes, 300 slots), frozen slots only. */
  recentStatus(signature: Signature): SignatureStatus | null;
  simulate(transaction: Transaction, bank: Bank, options: SimulateOptions): Simulation;
  /**
   * Runs a transaction in the open slot. One that cannot be charged leaves no trace.
   * @returns null on success, else the error. A failed transaction is in the block unless it could not be
   * charged or there was no capacity.
   */
  submit(transaction: Transaction): TransactionError | null;
  /**
   * As `submit`, but waits for block capacity: retried in the next slots until it runs, expires or has used
   * its retries.
   * @param maxRetries - no limit when absent.
   * @returns whether it was accepted; asynchronously when shreds are sent.
   */
  send(transaction: Transaction, maxRetries?: bigint): Sent | Promise<Sent>;
  /** Faucet transfer, signed by the ledger and sent with `send`. */
  airdrop(to: Address, lamports: Lamports, recentBlockhash?: Blockhash): Airdropped | Promise<Airdropped>;
  /**
   * Reason why the ledger halted, such as a disk error, or null. Then `submit`, `send` and `airdrop` throw,
   * and reads continue.
   */
  readonly failure: Error | null;
  /** Highest slot on disk. */
  readonly durableSlot: Slot;
  /** Absent until the sockets are open. */
  contact?: Contact | undefined;
}

export type Sent = 'taken' | 'queue full';
/** Signature, or the reason for none. */
export type Airdropped = Signature | 'insufficient' | 'queue full';

/** "ip:port"; null for services not offered. */
export type Contact = Readonly<{ gossip: string | null; rpc: string | null; pubsub: string | null }>;

export type EpochSchedule = Readonly<{
  slotsPerEpoch: bigint;
  leaderScheduleSlotOffset: bigint;
  warmup: boolean;
  firstNormalEpoch: bigint;
  firstNormalSlot: bigint;
}>;

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

/** State after one frozen slot; readable within 32 slots of the tip. */
export interface Bank {
  readonly slot: Slot;
  readonly parentSlot: Slot;
  readonly blockHeight: bigint;
  readonly blockhash: Blockhash;
  readonly epoch: Epoch;
  readonly clock: Clock;
  /** Since genesis. */
  readonly transactionCount: bigint;
  /** Lamports of all accounts. */
  readonly capitalization: Lamports;
  /** null when absent or drained. Sysvars have full size. */
  account(address: Address): Account | null;
  /** Unordered. */
  accountsByOwner(program: Address): Iterable<readonly [Address, Account]>;
  /** Token and Token-2022 accounts, without mints. */
  tokenAccountsByOwner(wallet: Address): Iterable<readonly [Address, Account]>;
  tokenAccountsByDelegate(delegate: Address): Iterable<readonly [Address, Account]>;
  tokenAccountsByMint(mint: Address): Iterable<readonly [Address, Account]>;
  /** By a scan. */
  accounts(): Iterable<readonly [Address, Account]>;
  /** Age ≤ 150. */
  isBlockhashValid(blockhash: Blockhash): boolean;
  /** null for an unknown blockhash. */
  lastValidBlockHeight(blockhash: Blockhash): bigint | null;
}

export type SignatureStatus = Readonly<{ slot: Slot; err: TransactionError | null }>;

export type AddressSignature = Readonly<{
  signature: Signature;
  slot: Slot;
  /** Position in its block. */
  index: number;
}>;

/** Frozen blocks and indexes, up to the processed tip; callers check the commitment. */
export interface History {
  readonly firstAvailableSlot: Slot;
  /** null when removed or not frozen. */
  block(slot: Slot): Block | null;
  /** Without reading the block; null as above. */
  blockTime(slot: Slot): bigint | null;
  transactionsOf(
    address: Address,
    query: AddressHistoryQuery,
  ): readonly Readonly<{ slot: Slot; index: number }>[];
  /** Slots with transactions up to `newest`, newest first. */
  slotsInUse(newest: Slot, limit: number): Slot[];
  /** Newest first. */
  performanceSamples(limit: number): PerformanceSample[];
  locate(signature: Signature): Readonly<{ slot: Slot; index: number; err: TransactionError | null }> | null;
  /** Newest first, at or below `highestSlot`, between `before` and `until`. */
  signaturesForAddress(
    address: Address,
    options: Readonly<{ limit: number; highestSlot: Slot; before?: Signature; until?: Signature }>,
  ): AddressSignature[];
}

export type SimulateOptions = Readonly<{
  sigVerify: boolean;
  /** Replaces the blockhash by the newest one. */
  replaceRecentBlockhash: boolean;
  /** Whether to list inner instructions. */
  innerInstructions: boolean;
}>;

/** Source: reference §1.10. */
export type Simulation = Readonly<{
  err: TransactionError | null;
  logs: readonly string[];
  unitsConsumed: bigint;
  loadedAccountsDataSize: number;
  returnData: OwnMeta['returnData'];
  /** null when not requested or nothing ran. */
  innerInstructions: OwnMeta['innerInstructions'] | null;
  /** Writable accounts after the run; empty after a failure. */
  postAccounts: ReadonlyMap<Address, Account>;
  replacementBlockhash: Readonly<{ blockhash: Blockhash; lastValidBlockHeight: bigint }> | null;
  /** null when it could not be charged. */
  fee: Lamports | null;
  /** All four null for invalid signatures. */
  preBalances: readonly Lamports[] | null;
  postBalances: readonly Lamports[] | null;
  preTokenBalances: OwnMeta['preTokenBalances'] | null;
  postTokenBalances: OwnMeta['postTokenBalances'] | null;
  loadedAddresses: OwnMeta['loadedAddresses'] | null;
}>;

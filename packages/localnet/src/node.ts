import type { Commitment } from '../../../src/protocol/commitment.ts';
import type { Account } from '../../../src/solana/account/account.ts';
import type { Address } from '../../../src/solana/address.ts';
import type { Block } from '../../../src/solana/block.ts';
import type { Blockhash } from '../../../src/solana/blockhash.ts';
import type { Signature } from '../../../src/solana/signature.ts';
import type { Transaction } from '../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../src/solana/transaction/transaction-error.ts';
import type { Epoch, Lamports, Slot } from '../../../src/solana/units.ts';
import type { RecordedMeta } from './bank/token-balances.ts';
import type { AddressHistoryQuery } from './history/address-history.ts';
import type { PerformanceSample } from './history/performance-samples.ts';

/**
 * The ledger as seen by its RPC methods. It has one fork: `processed` is the last frozen slot, `confirmed` is 1
 * slot behind it and `finalized` 31. Transactions become visible when their slot is frozen.
 */
export interface LocalNode {
  readonly genesis: Genesis;
  readonly history: History;
  /** Returns the same object until the next slot is frozen. */
  bank(commitment: Commitment): Bank;
  /** Newest snapshot on disk, or null. */
  snapshotSlot(): Slot | null;
  /** Result from the status cache (300 slots); frozen slots only. */
  recentStatus(signature: Signature): SignatureStatus | null;
  simulate(transaction: Transaction, bank: Bank, options: SimulateOptions): Simulation;
  /**
   * Executes a transaction in the open slot.
   * @returns null on success, else the error. A failed transaction is part of the block, unless its fee could
   * not be charged or the block had no capacity.
   */
  submit(transaction: Transaction): TransactionError | null;
  /**
   * Like `submit`, but if the block has no capacity, the transaction is retried in the next slots until it is
   * executed, expires or has used up its retries.
   * @param maxRetries - absent: no limit.
   * @returns whether it was accepted; a promise if shreds are sent.
   */
  send(transaction: Transaction, maxRetries?: bigint): SendResult | Promise<SendResult>;
  /** Faucet transfer, signed by the ledger and sent with `send`. */
  airdrop(
    to: Address,
    lamports: Lamports,
    recentBlockhash?: Blockhash,
  ): AirdropResult | Promise<AirdropResult>;
  /**
   * Why the ledger halted, such as a disk error, or null. After that, `submit`, `send` and `airdrop` throw; reads
   * still work.
   */
  readonly failure: Error | null;
  /** Highest slot on disk. */
  readonly durableSlot: Slot;
  /** Absent until the sockets are open. */
  contact?: Contact | undefined;
}

export type SendResult = 'taken' | 'queue full';
/** Signature of the transfer, or why there is none. */
export type AirdropResult = Signature | 'insufficient' | 'queue full';

/** UDP services of a validator that this one does not offer, but whose ports it binds. */
export const silentServices = [
  'gossip',
  'serveRepair',
  'tpuForwardsQuic',
  'tpuQuic',
  'tpuVote',
  'tvu',
] as const;

export type SilentService = (typeof silentServices)[number];

/** "ip:port". */
export type Contact = Readonly<Record<SilentService | 'rpc' | 'pubsub', string>>;

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
  /** null if absent or if the balance is 0. Sysvars have their full size. */
  account(address: Address): Account | null;
  /** Unordered. */
  accountsByOwner(program: Address): Iterable<readonly [Address, Account]>;
  /** Token and Token-2022 accounts, without mints. */
  tokenAccountsByOwner(wallet: Address): Iterable<readonly [Address, Account]>;
  tokenAccountsByDelegate(delegate: Address): Iterable<readonly [Address, Account]>;
  tokenAccountsByMint(mint: Address): Iterable<readonly [Address, Account]>;
  /** By a scan. */
  accounts(): Iterable<readonly [Address, Account]>;
  /** Whether the age is at most 150 blocks. */
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
  /** null if the block was removed or is not frozen. */
  block(slot: Slot): Block | null;
  /** Does not read the block; null as for `block`. */
  blockTime(slot: Slot): bigint | null;
  transactionsOf(
    address: Address,
    query: AddressHistoryQuery,
  ): readonly Readonly<{ slot: Slot; index: number }>[];
  /** Slots with transactions other than votes, up to `newest`, newest first. */
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
  returnData: RecordedMeta['returnData'];
  /** null when not requested or nothing ran. */
  innerInstructions: RecordedMeta['innerInstructions'] | null;
  /** Writable accounts after the run; empty after a failure. */
  postAccounts: ReadonlyMap<Address, Account>;
  replacementBlockhash: Readonly<{ blockhash: Blockhash; lastValidBlockHeight: bigint }> | null;
  /** null if the fee could not be charged. */
  fee: Lamports | null;
  /** All four null for invalid signatures. */
  preBalances: readonly Lamports[] | null;
  postBalances: readonly Lamports[] | null;
  preTokenBalances: RecordedMeta['preTokenBalances'] | null;
  postTokenBalances: RecordedMeta['postTokenBalances'] | null;
  loadedAddresses: RecordedMeta['loadedAddresses'] | null;
}>;

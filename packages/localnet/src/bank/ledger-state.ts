import type { Keypair } from '../../../../src/solana/ed25519.ts';
import type { RecentBlocks } from '../history/recent-blocks.ts';
import type { SlotHeader, SlotRecord } from '../history/slot-record.ts';
import type { SendShreds } from '../network/shred-sender.ts';
import type { Genesis, History } from '../node.ts';
import type { AccountsStore } from './accounts-store.ts';
import type { Voter } from './node-vote.ts';
import type { StatusCache } from './status-cache.ts';

/** Persistent storage of frozen slots. */
export interface BlockStore extends History {
  /** Highest slot that survives a machine crash. */
  readonly durableSlot: number;
  /** Write error after which no further slots are accepted, or null. */
  readonly failure: Error | null;
  append(record: SlotRecord): void;
  /** null if the slot was removed or is not frozen. */
  record(slot: number): SlotRecord | null;
}

/** Initial state up to and including a frozen slot. */
export type LedgerState = Readonly<{
  genesis: Genesis;
  faucet: Keypair;
  voter: Voter;
  store: AccountsStore;
  recentBlocks: RecentBlocks;
  statuses: StatusCache;
  /** Readable frozen slots, oldest first, with the lamports of all stored accounts. */
  frozen: readonly Readonly<{ header: SlotHeader; accountLamports: bigint }>[];
  blocks: BlockStore;
  /** Slot of the newest snapshot on disk, or null. */
  snapshotSlot: () => number | null;
}>;

/** The ledger has halted and produces no further slots. `cause` is the reason. */
export class LedgerHaltedError extends Error {
  override readonly name = 'LedgerHaltedError';

  constructor(cause: Error) {
    super('the ledger has stopped and accepts no more transactions', { cause });
  }
}

export type LedgerOptions = Readonly<{
  /** Unix milliseconds. Default the system clock. */
  now?: () => number;
  /** Cost units per slot. Default Agave's 60 million. */
  blockCostMax?: bigint;
  /** Transactions waiting for block capacity. Default 10,000, as in Agave's retry pool. */
  waitingMaxTransactions?: number;
  /** Sends shreds before their transactions are executed. Default: no shreds. */
  sendShreds?: SendShreds;
  /** Minimum milliseconds between sending a transaction's shreds and executing it. Default 0. */
  shredLeadMs?: number;
}>;

export const WAITING_MAX_TRANSACTIONS = 10_000;
/** Limit of transactions that have arrived but not been executed, if shreds are sent. */
export const INTAKE_MAX_TRANSACTIONS = 10_000;

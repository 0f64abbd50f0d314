import type { Keypair } from '../../solana/ed25519.ts';
import type { RecentBlocks } from '../history/recent-blocks.ts';
import type { SlotHeader } from '../history/slot-header.ts';
import type { SlotRecord } from '../history/slot-record.ts';
import type { Genesis, History } from '../node.ts';
import type { AccountsStore } from './accounts-store.ts';
import type { StatusCache } from './status-cache.ts';
import type { Voter } from './vote-instruction.ts';

/** Where frozen slots go. */
export interface BlockStore extends History {
  /** Highest slot that a crash of the machine cannot take back. */
  readonly durableSlot: number;
  /** Why it takes no more slots; null while it does. */
  readonly failure: Error | null;
  /** Records a frozen slot and starts to make it durable. */
  append(record: SlotRecord): void;
  /** What was recorded of a slot; null when it was cleaned up or has not frozen. */
  record(slot: number): SlotRecord | null;
}

/** The state that a ledger starts from: everything up to and including a frozen slot. */
export type LedgerState = Readonly<{
  genesis: Genesis;
  faucet: Keypair;
  voter: Voter;
  store: AccountsStore;
  recentBlocks: RecentBlocks;
  statuses: StatusCache;
  /** Frozen slots that readers may still ask for, oldest first, with the lamports of all stored accounts. */
  frozen: readonly Readonly<{ header: SlotHeader; accountLamports: bigint }>[];
  blocks: BlockStore;
  /** Slot of the newest snapshot on disk; null for none. */
  snapshotSlot: () => number | null;
}>;

import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import type { Block, BlockReward } from '../../solana/block.ts';
import { slot } from '../../solana/units.ts';
import type { OwnTransaction } from '../bank/execution-meta.ts';
import type { SlotTrace } from '../bank/slot-trace.ts';
import type { SlotHeader } from './slot-header.ts';

/** All that a frozen slot did: what history keeps and what a restart replays. */
export type SlotRecord = Readonly<{
  header: SlotHeader;
  transactions: readonly OwnTransaction[];
  rewards: readonly BlockReward[];
  /** Blocks that pay the rewards of the epoch before; only in the first slot of an epoch. */
  numRewardPartitions?: bigint | undefined;
  /** Accounts as the slot left them; null where drained. */
  accounts: ReadonlyMap<Address, Account | null>;
  /** null in the record of a slot that has no entries: the first, and those of ledgers before there were any. */
  trace: SlotTrace | null;
}>;

/** The part of a record that makes a block. */
export type RecordedBlock = Pick<SlotRecord, 'header' | 'transactions' | 'rewards' | 'numRewardPartitions'>;

/** The block of a record. */
export function blockOf({ header, transactions, rewards, numRewardPartitions }: RecordedBlock): Block {
  return {
    slot: slot(header.slot),
    parentSlot: slot(Math.max(0, header.slot - 1)),
    blockhash: header.blockhash,
    previousBlockhash: header.previousBlockhash,
    blockHeight: BigInt(header.slot),
    blockTime: BigInt(header.blockTime),
    transactions,
    rewards,
    numRewardPartitions,
  };
}

import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block } from '../../../../src/solana/block.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import type { BlockReward } from '../../../../src/solana/transaction/transaction-meta.ts';
import { epoch, slot } from '../../../../src/solana/units.ts';
import type { SlotTrace } from '../bank/slot-trace.ts';
import type { RecordedTransaction } from '../bank/token-balances.ts';
import type { Clock, EpochSchedule } from '../node.ts';

/** Times are Unix seconds. */
export type SlotHeader = Readonly<{
  slot: number;
  blockhash: Blockhash;
  previousBlockhash: Blockhash;
  blockTime: number;
  /** Start of the epoch. */
  epochStartTime: number;
  /** Since genesis, including this slot. */
  transactionCount: bigint;
}>;

/** Epochs of equal length from slot 0. Source: solana-epoch-schedule, `EpochSchedule::custom`. */
export function epochScheduleOf(slotsPerEpoch: number): EpochSchedule {
  return {
    slotsPerEpoch: BigInt(slotsPerEpoch),
    leaderScheduleSlotOffset: BigInt(slotsPerEpoch),
    warmup: false,
    firstNormalEpoch: 0n,
    firstNormalSlot: 0n,
  };
}

/** The leader schedule is known one epoch ahead. */
export function clockOf(
  header: Pick<SlotHeader, 'slot' | 'blockTime' | 'epochStartTime'>,
  { slotsPerEpoch }: EpochSchedule,
): Clock {
  const current = BigInt(header.slot) / slotsPerEpoch;
  return {
    slot: slot(header.slot),
    epochStartTimestamp: BigInt(header.epochStartTime),
    epoch: epoch(current),
    leaderScheduleEpoch: epoch(current + 1n),
    unixTimestamp: BigInt(header.blockTime),
  };
}

/** Everything that happened in a slot, for history and replay. */
export type SlotRecord = Readonly<{
  header: SlotHeader;
  transactions: readonly RecordedTransaction[];
  rewards: readonly BlockReward[];
  /** Only in the first slot of an epoch. */
  numRewardPartitions?: bigint | undefined;
  /** Changed accounts after the slot; null if the balance is 0. */
  accounts: ReadonlyMap<Address, Account | null>;
  /** null for the first slot and for old records. */
  trace: SlotTrace | null;
}>;

export type RecordedBlock = Pick<SlotRecord, 'header' | 'transactions' | 'rewards' | 'numRewardPartitions'>;

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

import type { Blockhash } from '../../solana/blockhash.ts';
import { epoch, slot } from '../../solana/units.ts';
import type { Clock, EpochSchedule } from '../node.ts';

/** What is recorded of a frozen slot beside its transactions and accounts. Times are unix seconds. */
export type SlotHeader = Readonly<{
  slot: number;
  blockhash: Blockhash;
  previousBlockhash: Blockhash;
  blockTime: number;
  /** Time of the first slot of the epoch. */
  epochStartTime: number;
  /** Transactions since genesis, this slot included. */
  transactionCount: bigint;
}>;

/** Epochs all have the same length from the first slot on. Source: solana-epoch-schedule, `EpochSchedule::custom`. */
export function epochScheduleOf(slotsPerEpoch: number): EpochSchedule {
  return {
    slotsPerEpoch: BigInt(slotsPerEpoch),
    leaderScheduleSlotOffset: BigInt(slotsPerEpoch),
    warmup: false,
    firstNormalEpoch: 0n,
    firstNormalSlot: 0n,
  };
}

/** The clock that programs read in a slot. The leader schedule is known one epoch ahead. */
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

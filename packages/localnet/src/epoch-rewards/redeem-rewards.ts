import { type StakeHistoryLookup, stakeActivation } from '../../../../src/solana/stake-activation.ts';
import type { Stake } from '../../../../src/solana/stake-state.ts';
import type { VoteState } from '../../../../src/solana/vote-state.ts';

/** Lamports to distribute, and the points among which they are divided. Source: agave `PointValue`. */
export type PointValue = Readonly<{ rewards: bigint; points: bigint }>;

/** Sorted by epoch. */
export type Credits = VoteState['epochCredits'];

type Points = Readonly<{ points: bigint; creditsObserved: bigint; isForced: boolean }>;

/** Lamports for staker and validator, and the credits observed afterwards. */
type RewardShares = Readonly<{ staker: bigint; voter: bigint; creditsObserved: bigint }>;

const BASIS_POINTS = 10_000n;

function unredeemedCredits(observed: bigint, { credits, previousCredits }: Credits[number]): bigint {
  if (observed < previousCredits) return credits - previousCredits;
  return observed < credits ? credits - observed : 0n;
}

/**
 * Points of a stake: stake times unredeemed credits, summed over epochs.
 * @see agave runtime/src/inflation_rewards/points.rs, `calculate_stake_points_and_credits`
 */
export function stakePoints(stake: Stake, epochCredits: Credits, history: StakeHistoryLookup): Points {
  const observed = stake.creditsObserved;
  const newest = epochCredits.at(-1)?.credits ?? 0n;
  // The vote account was recreated.
  if (newest < observed) return { points: 0n, creditsObserved: newest, isForced: true };
  let points = 0n;
  for (const entry of epochCredits) {
    const credits = unredeemedCredits(observed, entry);
    if (credits > 0n) points += credits * stakeActivation(stake.delegation, entry.epoch, history).effective;
  }
  return { points, creditsObserved: newest, isForced: false };
}

/** Splits a reward between staker and validator; both shares are rounded down. */
function split(commissionBps: number, amount: bigint): [voter: bigint, staker: bigint] {
  const bps = BigInt(Math.min(commissionBps, Number(BASIS_POINTS)));
  return [(amount * bps) / BASIS_POINTS, (amount * (BASIS_POINTS - bps)) / BASIS_POINTS];
}

/**
 * Reward of a delegation for an epoch.
 * @param commissionBps - basis points.
 * @returns null if there is no reward; then the credits remain unredeemed.
 * @see agave runtime/src/inflation_rewards/mod.rs, `calculate_stake_rewards`
 */
export function redeemRewards(
  stake: Stake,
  epochCredits: Credits,
  commissionBps: number,
  epoch: bigint,
  value: PointValue,
  history: StakeHistoryLookup,
): RewardShares | null {
  const { points, creditsObserved, isForced } = stakePoints(stake, epochCredits, history);
  if (isForced || value.rewards === 0n || stake.delegation.activationEpoch === epoch) {
    return { staker: 0n, voter: 0n, creditsObserved };
  }
  if (points === 0n || value.points === 0n) return null;
  const amount = (points * value.rewards) / value.points;
  if (amount === 0n) return null;
  const [voter, staker] = split(commissionBps, amount);
  const isShared = commissionBps > 0 && commissionBps < Number(BASIS_POINTS);
  // If either share is zero, nothing is paid and the credits remain.
  if (isShared && (voter === 0n || staker === 0n)) return null;
  return { staker, voter, creditsObserved };
}

/** Source: agave, `stake_account_stores_per_block`. */
const ACCOUNTS_PER_BLOCK = 4096n;
/** Stakes are paid within at most a tenth of the epoch. */
const EPOCH_PARTS = 10n;

/** Number of blocks that pay the stakes of an epoch, at least 1. Source: agave, `get_reward_distribution_num_blocks`. */
export function partitionCount(stakeCount: number, slotsPerEpoch: bigint): bigint {
  const wanted = (BigInt(stakeCount) + ACCOUNTS_PER_BLOCK - 1n) / ACCOUNTS_PER_BLOCK;
  const most = slotsPerEpoch / EPOCH_PARTS;
  if (wanted < 1n || most < 1n) return 1n;
  return wanted < most ? wanted : most;
}

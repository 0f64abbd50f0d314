import type { Address } from '../../../../src/solana/address.ts';
import {
  type StakeHistoryLookup,
  stakeActivation,
  stakeHistoryLookup,
} from '../../../../src/solana/stake-activation.ts';
import { encodeStakeState } from '../../../../src/solana/stake-state.ts';
import type { StakeHistoryEntry } from '../../../../src/solana/sysvars.ts';
import type { Epoch } from '../../../../src/solana/units.ts';
import type { VoteState } from '../../../../src/solana/vote-state.ts';
import { type PointValue, redeemRewards, stakePoints } from './redeem-rewards.ts';
import {
  commissionBps,
  type Delegated,
  type StakeAccount,
  type StakesView,
  voteStateAt,
} from './stake-accounts.ts';

export type StakeReward = Readonly<{
  address: Address;
  lamports: bigint;
  /** Validator commission in percent. */
  commission: number;
  rewardType: 'Staking' | 'DeactivatedStake';
  data: Uint8Array;
}>;

type VoteReward = Readonly<{ address: Address; lamports: bigint; commission: number }>;

export type CalculatedRewards = Readonly<{
  value: PointValue;
  votes: readonly VoteReward[];
  stakes: readonly StakeReward[];
}>;

type Sources = Readonly<{
  view: StakesView;
  stakes: readonly StakeAccount[];
  /** Epoch that earned the rewards. */
  epoch: Epoch;
  /** Stake history up to and including that epoch. */
  history: readonly StakeHistoryEntry[];
}>;

type Voter = Readonly<{ credits: VoteState['epochCredits']; commissionBps: number }>;

/** Voters with their credits at the end of the epoch. */
function votersOf({ view, stakes, epoch }: Sources): ReadonlyMap<Address, Voter> {
  const voters = new Map<Address, Voter>();
  for (const { state } of stakes) {
    const { voter } = state.stake.delegation;
    if (voters.has(voter)) continue;
    const vote = voteStateAt(view, voter);
    if (vote === null) continue;
    const credits = vote.epochCredits.filter((entry) => entry.epoch <= epoch);
    voters.set(voter, { credits, commissionBps: commissionBps(vote) });
  }
  return voters;
}

/** Source: agave, `calculate_reward_points_partitioned`. */
function allPoints(
  stakes: readonly StakeAccount[],
  voters: ReadonlyMap<Address, Voter>,
  history: StakeHistoryLookup,
): bigint {
  return stakes.reduce((sum, { state }) => {
    const voter = voters.get(state.stake.delegation.voter);
    return voter === undefined ? sum : sum + stakePoints(state.stake, voter.credits, history).points;
  }, 0n);
}

function withRewards(
  state: Delegated,
  share: Readonly<{ staker: bigint; creditsObserved: bigint }>,
  payoutEpoch: bigint,
  history: StakeHistoryLookup,
): Pick<StakeReward, 'data' | 'rewardType'> {
  const { delegation: before } = state.stake;
  const delegation = { ...before, stake: before.stake + share.staker };
  const { effective } = stakeActivation(delegation, payoutEpoch, history);
  const stake = { delegation, creditsObserved: share.creditsObserved };
  return {
    data: encodeStakeState({ ...state, stake }),
    rewardType: effective === 0n ? 'DeactivatedStake' : 'Staking',
  };
}

/**
 * Calculates the rewards of an epoch.
 * @param rewards - lamports to distribute; after a restart, the stored point value instead.
 * @see agave runtime/src/bank/partitioned_epoch_rewards/calculation.rs
 */
export function calculateRewards(sources: Sources, rewards: bigint | PointValue): CalculatedRewards {
  const { stakes, epoch } = sources;
  const history = stakeHistoryLookup(sources.history);
  const voters = votersOf(sources);
  const points = typeof rewards === 'bigint' ? allPoints(stakes, voters, history) : rewards.points;
  const value = typeof rewards === 'bigint' ? { rewards, points } : rewards;
  if (points === 0n) return { value: { rewards: 0n, points: 0n }, votes: [], stakes: [] };
  const votes = new Map<Address, VoteReward>();
  const stakeRewards: StakeReward[] = [];
  for (const { address, state } of stakes) {
    const key = state.stake.delegation.voter;
    const voter = voters.get(key);
    if (voter === undefined) continue;
    const share = redeemRewards(state.stake, voter.credits, voter.commissionBps, epoch, value, history);
    if (share === null) continue;
    const commission = Math.min(255, Math.floor(voter.commissionBps / 100));
    const before = votes.get(key)?.lamports ?? 0n;
    votes.set(key, { address: key, lamports: before + share.voter, commission });
    const after = withRewards(state, share, epoch + 1n, history);
    stakeRewards.push({ address, lamports: share.staker, commission, ...after });
  }
  return { value, votes: [...votes.values()], stakes: stakeRewards };
}

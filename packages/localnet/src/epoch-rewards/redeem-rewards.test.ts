import { describe, expect, it } from 'vitest';
import { address } from '../../../../src/solana/address.ts';
import { stakeHistoryLookup } from '../../../../src/solana/stake-activation.ts';
import { U64_MAX } from '../../../../src/solana/units.ts';
import { partitionCount, redeemRewards, stakePoints } from './redeem-rewards.ts';

const stake = (creditsObserved: bigint, activationEpoch = U64_MAX) => ({
  delegation: {
    voter: address('11111111111111111111111111111111'),
    ...{ stake: 100n, activationEpoch, deactivationEpoch: U64_MAX, warmupCooldownRate: 0.25 },
  },
  creditsObserved,
});
const none = stakeHistoryLookup([]);
const credits = [
  { epoch: 0n, credits: 10n, previousCredits: 0n },
  { epoch: 1n, credits: 30n, previousCredits: 10n },
];

describe('delegation points', () => {
  it.each([
    ['all credits of a new delegation', 0n, { points: 3000n, creditsObserved: 30n, isForced: false }],
    ['the rest of an epoch', 4n, { points: 2600n, creditsObserved: 30n, isForced: false }],
    ['nothing new', 30n, { points: 0n, creditsObserved: 30n, isForced: false }],
    ['a recreated vote account', 31n, { points: 0n, creditsObserved: 30n, isForced: true }],
  ] as const)('%s', (_name, observed, points) => {
    expect(stakePoints(stake(observed), credits, none)).toEqual(points);
  });
});

describe('delegation rewards', () => {
  const redeem = (observed: bigint, commissionBps: number, value: { rewards: bigint; points: bigint }) =>
    redeemRewards(stake(observed), credits, commissionBps, 1n, value, none);

  it.each([
    [0, { staker: 1000n, voter: 0n, creditsObserved: 30n }],
    [10_000, { staker: 0n, voter: 1000n, creditsObserved: 30n }],
    [12_345, { staker: 0n, voter: 1000n, creditsObserved: 30n }],
    [1050, { staker: 895n, voter: 105n, creditsObserved: 30n }],
  ])('are split at a commission of %i basis points', (commission, redeemed) => {
    expect(redeem(0n, commission, { rewards: 2000n, points: 6000n })).toEqual(redeemed);
  });

  it('are postponed when a share would be zero', () => {
    expect(redeem(0n, 100, { rewards: 10n, points: 6000n })).toBeNull();
    expect(redeem(0n, 0, { rewards: 1n, points: 6000n })).toBeNull();
    expect(redeem(30n, 0, { rewards: 2000n, points: 6000n })).toBeNull();
  });

  it('are zero in the activation epoch and without inflation, but use up credits', () => {
    const value = { rewards: 2000n, points: 6000n };
    const spent = { staker: 0n, voter: 0n, creditsObserved: 30n };
    expect(redeemRewards(stake(0n, 1n), credits, 0, 1n, value, none)).toEqual(spent);
    expect(redeem(0n, 0, { rewards: 0n, points: 6000n })).toEqual(spent);
    expect(redeem(40n, 0, value)).toEqual(spent);
  });
});

it.each([
  ['none', 0, 432_000n, 1n],
  ['as many stakes as one block pays', 4096, 432_000n, 1n],
  ['one more than that', 4097, 432_000n, 2n],
  ['a real cluster', 1_200_000, 432_000n, 293n],
  ['capped at a tenth of the epoch', 1_200_000, 32n, 3n],
  ['an epoch too short for a tenth', 10_000, 9n, 1n],
])('partition count: %s', (_, stakes, slotsPerEpoch, blocks) => {
  expect(partitionCount(stakes, slotsPerEpoch)).toBe(blocks);
});

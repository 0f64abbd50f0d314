import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import { encodeStakeState } from '../../../src/solana/stake-state.ts';
import { epoch, lamports, slot, U64_MAX } from '../../../src/solana/units.ts';
import { encodeVoteState } from '../../../src/solana/vote-state.ts';
import { openRig, type Rig } from './rig.ts';

const SLOTS_PER_EPOCH = 32;
const SOL = 1_000_000_000n;
const EARNED = 200n;
const VOTE = Keypair.generate().address;
const STAKE = Keypair.generate().address;
const CONFIRMED = { commitment: 'confirmed' };

/** Another validator with credits in epoch 0 and 10 % commission. */
const vote = encodeVoteState({
  version: 'V4',
  node: VOTE,
  authorizedWithdrawer: VOTE,
  inflationRewardsCollector: VOTE,
  blockRevenueCollector: VOTE,
  inflationRewardsCommissionBps: 1000,
  blockRevenueCommissionBps: 10_000,
  pendingDelegatorRewards: 0n,
  blsPublicKey: null,
  votes: [],
  rootSlot: null,
  authorizedVoters: [{ epoch: 0n, voter: VOTE }],
  epochCredits: [{ epoch: 0n, credits: EARNED, previousCredits: 0n }],
  lastTimestamp: { slot: 0n, timestamp: 0n },
});

const stakeOf = (sol: bigint, deactivationEpoch: bigint) =>
  encodeStakeState({
    type: 'delegated',
    meta: {
      rentExemptReserve: 2_282_880n,
      authorized: { staker: STAKE, withdrawer: STAKE },
      lockup: { unixTimestamp: 0n, epoch: epoch(0), custodian: programs.system },
    },
    stake: {
      delegation: {
        ...{ voter: VOTE, stake: sol * SOL, activationEpoch: U64_MAX },
        ...{ deactivationEpoch, warmupCooldownRate: 0.25 },
      },
      creditsObserved: 0n,
    },
    flags: 0,
  });

const account = (owner: typeof programs.vote, data: Uint8Array) => ({
  ...{ lamports: lamports(600_000n * SOL), data, owner },
  ...{ executable: false, rentEpoch: U64_MAX },
});

let ledger: Rig;
beforeAll(async () => {
  ledger = await openRig({
    slotsPerEpoch: SLOTS_PER_EPOCH,
    accounts: [
      [VOTE, account(programs.vote, vote)],
      [STAKE, account(programs.stake, stakeOf(500_000n, U64_MAX))],
    ],
  });
});
afterAll(() => ledger.close());

describe('getInflationReward', () => {
  it('includes the vote account at once and the stake account a block later', async () => {
    // The first slot of epoch 1 is the confirmed tip.
    ledger.freeze(SLOTS_PER_EPOCH + 1);
    const [voter] = await ledger.result('getInflationReward', [[VOTE], { ...CONFIRMED, epoch: 0 }]);
    expect(voter).toMatchObject({ commission: 10, effectiveSlot: SLOTS_PER_EPOCH });
    expect(voter).not.toHaveProperty('commissionBps');
    expect(await ledger.error('getInflationReward', [[STAKE], { ...CONFIRMED, epoch: 0 }])).toEqual({
      code: -32017,
      message: `Epoch rewards period still active at slot ${SLOTS_PER_EPOCH}`,
      data: {
        currentBlockHeight: SLOTS_PER_EPOCH,
        rewardsCompleteBlockHeight: SLOTS_PER_EPOCH + 2,
        slot: SLOTS_PER_EPOCH,
      },
    });
    ledger.freeze();
    const [staker, other] = await ledger.result('getInflationReward', [[STAKE, programs.stake], CONFIRMED]);
    expect(other).toBeNull();
    expect(staker).toMatchObject({ commission: 10, epoch: 0, effectiveSlot: SLOTS_PER_EPOCH + 1 });
    expect(Math.abs(staker.amount - 9 * voter.amount)).toBeLessThanOrEqual(10);
    expect(voter.amount).toBeGreaterThan(0);
    const bank = ledger.node.bank('processed');
    expect(bank.account(STAKE)?.lamports).toBe(BigInt(staker.postBalance));
    expect(bank.account(VOTE)?.lamports).toBe(600_000n * SOL + BigInt(voter.amount));
  });

  it('matches the blocks', async () => {
    const config = { ...CONFIRMED, transactionDetails: 'none' };
    const boundary = await ledger.result('getBlock', [SLOTS_PER_EPOCH, config]);
    expect(boundary.numRewardPartitions).toBe(1);
    expect(boundary.rewards).toMatchObject([
      { pubkey: VOTE, rewardType: 'Voting', commission: 10 },
      { rewardType: 'Fee' },
    ]);
    const next = await ledger.result('getBlock', [SLOTS_PER_EPOCH + 1, config]);
    expect(next).not.toHaveProperty('numRewardPartitions');
    expect(next.rewards).toMatchObject([
      { pubkey: STAKE, rewardType: 'Staking', commission: 10 },
      { rewardType: 'Fee' },
    ]);
    expect(ledger.node.history.block(slot(0))?.rewards).toEqual([]);
  });
});

describe('stake deactivated in its earning epoch', () => {
  it('is paid as inactive', async () => {
    const deactivating = Keypair.generate().address;
    const other = await openRig({
      slotsPerEpoch: SLOTS_PER_EPOCH,
      accounts: [
        [VOTE, account(programs.vote, vote)],
        [deactivating, account(programs.stake, stakeOf(1_000n, 0n))],
      ],
    });
    other.freeze(SLOTS_PER_EPOCH + 3);
    const config = { ...CONFIRMED, transactionDetails: 'none' };
    const { rewards } = await other.result('getBlock', [SLOTS_PER_EPOCH + 1, config]);
    const reward = { pubkey: deactivating, rewardType: 'DeactivatedStake', commission: 10 };
    expect(rewards).toMatchObject([reward, { rewardType: 'Fee' }]);
    const [paid] = await other.result('getInflationReward', [[deactivating], CONFIRMED]);
    expect(paid).toMatchObject({ amount: rewards[0].lamports, effectiveSlot: SLOTS_PER_EPOCH + 1 });
    await other.close();
  });
});

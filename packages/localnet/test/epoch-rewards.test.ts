import { afterEach, describe, expect, it } from 'vitest';
import type { Address } from '../../../src/solana/address.ts';
import { sysvars } from '../../../src/solana/programs.ts';
import { decodeStakeState } from '../../../src/solana/stake-state.ts';
import { decodeEpochRewards } from '../../../src/solana/sysvars.ts';
import { slot } from '../../../src/solana/units.ts';
import { epochYears } from '../src/bank/inflation.ts';
import { Lab } from './ledger/lab.ts';

const SLOTS_PER_EPOCH = 32;
/** First slot after the node's votes earned credits: epoch 2. */
const BOUNDARY = 2 * SLOTS_PER_EPOCH;

let lab: Lab;
const open = async (): Promise<Lab> => {
  lab = await Lab.open({ slotsPerEpoch: SLOTS_PER_EPOCH });
  return lab;
};
afterEach(() => lab.close());

const processed = () => lab.node.bank('processed');
const dataOf = (key: Address): Uint8Array => processed().account(key)?.data ?? new Uint8Array();
const blockAt = (at: number) => lab.node.history.block(slot(at));
const rewardsState = () => decodeEpochRewards(dataOf(sysvars.epochRewards));

function staked() {
  const state = decodeStakeState(dataOf(lab.node.genesis.stakeAccount));
  if (state?.type !== 'delegated') throw new Error('the stake is not delegated');
  return { ...state.stake.delegation, creditsObserved: state.stake.creditsObserved };
}

const FEES_OF_VOTE = { rewardType: 'Fee', lamports: 5_000n };

describe('epoch transition', () => {
  it('pays votes in its first block and stakes in the next', async () => {
    const { voteAccount, stakeAccount } = (await open()).node.genesis;
    lab.freeze(BOUNDARY - 1);
    const before = { ...staked(), capitalization: processed().capitalization };
    lab.freeze();
    expect(rewardsState()).toMatchObject({
      active: true,
      distributionStartingBlockHeight: BigInt(BOUNDARY + 1),
      numPartitions: 1n,
      distributedRewards: 0n,
    });
    expect(blockAt(BOUNDARY)).toMatchObject({
      numRewardPartitions: 1n,
      rewards: [{ pubkey: voteAccount, lamports: 0n, rewardType: 'Voting', commission: 0 }, FEES_OF_VOTE],
    });
    lab.freeze();
    const [reward] = blockAt(BOUNDARY + 1)?.rewards ?? [];
    const rate = 0.08 * 0.85 ** (2 * epochYears(lab.node.genesis)) * 0.95;
    const expected = rate * Number(before.capitalization) * epochYears(lab.node.genesis);
    expect(Math.abs(Number(reward?.lamports) - expected)).toBeLessThanOrEqual(2);
    expect(reward).toMatchObject({
      pubkey: stakeAccount,
      rewardType: 'Staking',
      commission: 0,
      postBalance: processed().account(stakeAccount)?.lamports,
    });
    expect(staked().stake).toBe(before.stake + (reward?.lamports ?? 0n));
    // Half of the fees of two votes is burnt.
    expect(processed().capitalization).toBe(before.capitalization + (reward?.lamports ?? 0n) - 10_000n);
    expect(rewardsState()).toMatchObject({ active: false, distributedRewards: reward?.lamports });
  });

  it('continues after a restart between the two blocks', async () => {
    await open();
    lab.freeze(BOUNDARY);
    await lab.durable();
    await lab.reopen();
    expect(rewardsState()).toMatchObject({ active: true });
    const { totalRewards } = rewardsState() ?? {};
    lab.freeze();
    const [reward] = blockAt(BOUNDARY + 1)?.rewards ?? [];
    expect(reward).toMatchObject({ pubkey: lab.node.genesis.stakeAccount, rewardType: 'Staking' });
    expect(Math.abs(Number(totalRewards) - Number(reward?.lamports))).toBeLessThanOrEqual(1);
    await lab.durable();
    const { capitalization } = processed();
    await lab.reopen();
    expect(processed().capitalization).toBe(capitalization);
    expect(blockAt(BOUNDARY + 1)?.rewards).toMatchObject([reward, FEES_OF_VOTE]);
    expect(blockAt(BOUNDARY)?.numRewardPartitions).toBe(1n);
  });
});

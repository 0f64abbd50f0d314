import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { rewardPartition } from '../../../../src/solana/epoch-rewards-hasher.ts';
import { sysvarOwner, sysvars } from '../../../../src/solana/programs.ts';
import { stakeHistoryLookup } from '../../../../src/solana/stake-activation.ts';
import {
  decodeEpochRewards,
  EPOCH_REWARDS_BYTES,
  type EpochRewards,
  encodeEpochRewards,
} from '../../../../src/solana/sysvars.ts';
import type { BlockReward } from '../../../../src/solana/transaction/transaction-meta.ts';
import { type Epoch, epoch as epochOf, lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { epochYears, inflationRate } from '../bank/inflation.ts';
import { rentExemptMinimum, stakeHistoryAccount } from '../bank/sysvar-accounts.ts';
import type { Bank, Genesis } from '../node.ts';
import { type CalculatedRewards, calculateRewards, type StakeReward } from './calculate-rewards.ts';
import { partitionCount } from './redeem-rewards.ts';
import { stakeAccounts, stakeHistoryOf, stakeOfEpoch } from './stake-accounts.ts';

type SlotOpening = Readonly<{
  writes: readonly (readonly [Address, Account])[];
  rewards: readonly BlockReward[];
  /** Only in the first slot of an epoch. */
  numRewardPartitions?: bigint;
}>;

const NO_CHANGES: SlotOpening = { writes: [], rewards: [] };

/** Stake rewards that have not been paid, by partition. */
type Pending = Readonly<{ partitions: readonly (readonly StakeReward[])[] }>;

const sysvarAccount = (data: Uint8Array): Account => ({
  lamports: rentExemptMinimum(data.length),
  data,
  owner: sysvarOwner,
  executable: false,
  rentEpoch: U64_MAX,
});

/**
 * Processes epoch boundaries. The first slot of an epoch activates stakes, pays vote accounts and extends the
 * stake history; the next blocks pay stake accounts. All writes are logged; after a restart, pending rewards
 * are recalculated.
 * @see agave runtime/src/bank/partitioned_epoch_rewards
 */
export class EpochBoundary {
  readonly #genesis: Genesis;
  #pending: Pending | null = null;

  constructor(genesis: Genesis) {
    this.#genesis = genesis;
  }

  /** @param parent - state of the parent slot. */
  openSlot(slot: number, parent: Bank): SlotOpening {
    const { slotsPerEpoch } = this.#genesis.epochSchedule;
    const isFirst = slot > 0 && BigInt(slot) % slotsPerEpoch === 0n;
    if (isFirst) return this.#startEpoch(slot, parent);
    const sysvar = epochRewardsOf(parent);
    return sysvar?.active ? this.#distribute(slot, parent, sysvar) : NO_CHANGES;
  }

  #startEpoch(slot: number, parent: Bank): SlotOpening {
    const stakes = [...stakeAccounts(parent)];
    const before = stakeHistoryOf(parent);
    const history = [stakeOfEpoch(stakes, parent.epoch, stakeHistoryLookup(before)), ...before];
    const pay = calculateRewards(
      { view: parent, stakes, epoch: parent.epoch, history },
      this.#rewardsFor(parent),
    );
    const numRewardPartitions = partitionCount(pay.stakes.length, this.#genesis.epochSchedule.slotsPerEpoch);
    this.#pending = toPartitions(pay.stakes, parent, numRewardPartitions);
    const voters = payVoters(pay, parent);
    const sysvar: EpochRewards = {
      distributionStartingBlockHeight: BigInt(slot) + 1n,
      numPartitions: numRewardPartitions,
      parentBlockhash: parent.blockhash,
      totalPoints: pay.value.points,
      totalRewards: pay.value.rewards,
      distributedRewards: pay.votes.reduce((sum, vote) => sum + vote.lamports, 0n),
      active: true,
    };
    const writes: SlotOpening['writes'] = [
      ...voters.writes,
      [sysvars.stakeHistory, stakeHistoryAccount(history)],
      [sysvars.epochRewards, sysvarAccount(encodeEpochRewards(sysvar))],
    ];
    return { writes, rewards: voters.rewards, numRewardPartitions };
  }

  /** Source: agave, `calculate_previous_epoch_inflation_rewards`. */
  #rewardsFor(parent: Bank): bigint {
    const { validator } = inflationRate(this.#genesis, epochOf(parent.epoch + 1n));
    return BigInt(Math.trunc(validator * Number(parent.capitalization) * epochYears(this.#genesis)));
  }

  #distribute(slot: number, parent: Bank, sysvar: EpochRewards): SlotOpening {
    this.#pending ??= recalculate(parent, sysvar);
    const partition = slot - Number(sysvar.distributionStartingBlockHeight);
    const {
      writes,
      rewards,
      lamports: distributed,
    } = payStakes(this.#pending.partitions[partition] ?? [], parent);
    const active = BigInt(partition) + 1n < sysvar.numPartitions;
    if (!active) this.#pending = null;
    const updated = { ...sysvar, distributedRewards: sysvar.distributedRewards + distributed, active };
    return {
      writes: [...writes, [sysvars.epochRewards, sysvarAccount(encodeEpochRewards(updated))]],
      rewards,
    };
  }
}

/** null if the sysvar does not exist. */
function epochRewardsOf(bank: Pick<Bank, 'account'>): EpochRewards | null {
  const account = bank.account(sysvars.epochRewards);
  return account?.data.length === EPOCH_REWARDS_BYTES ? decodeEpochRewards(account.data) : null;
}

function toPartitions(
  rewards: readonly StakeReward[],
  { blockhash }: Pick<Bank, 'blockhash'>,
  count: bigint,
): Pending {
  const partitions = Array.from({ length: Number(count) }, (): StakeReward[] => []);
  for (const reward of rewards) partitions[rewardPartition(reward.address, blockhash, count)]?.push(reward);
  return { partitions };
}

/**
 * Recalculates the pending rewards after a restart. Stakes do not change until they are paid, and paid ones have
 * no credits left to redeem.
 */
function recalculate(parent: Bank, sysvar: EpochRewards): Pending {
  const epoch: Epoch = epochOf(parent.epoch - 1n);
  const value = { rewards: sysvar.totalRewards, points: sysvar.totalPoints };
  const sources = {
    view: parent,
    stakes: [...stakeAccounts(parent)],
    epoch,
    history: stakeHistoryOf(parent),
  };
  const { stakes } = calculateRewards(sources, value);
  return toPartitions(stakes, { blockhash: sysvar.parentBlockhash }, sysvar.numPartitions);
}

function payVoters({ votes }: CalculatedRewards, parent: Bank): Pick<SlotOpening, 'writes' | 'rewards'> {
  const writes: [Address, Account][] = [];
  const rewards: BlockReward[] = [];
  for (const { address: pubkey, lamports: share, commission } of votes) {
    const account = parent.account(pubkey);
    if (account === null) continue;
    const postBalance = lamports(account.lamports + share);
    writes.push([pubkey, { ...account, lamports: postBalance }]);
    rewards.push({ pubkey, lamports: share, postBalance, rewardType: 'Voting', commission });
  }
  return { writes, rewards };
}

/** Accounts without a reward are written too, because their credits were redeemed. */
function payStakes(
  stakes: readonly StakeReward[],
  parent: Bank,
): Pick<SlotOpening, 'writes' | 'rewards'> & { lamports: bigint } {
  const writes: [Address, Account][] = [];
  const rewards: BlockReward[] = [];
  let sum = 0n;
  for (const { address: pubkey, lamports: share, commission, rewardType, data } of stakes) {
    const account = parent.account(pubkey);
    if (account === null) continue;
    const postBalance = lamports(account.lamports + share);
    writes.push([pubkey, { ...account, lamports: postBalance, data }]);
    sum += share;
    if (share === 0n) continue;
    rewards.push({ pubkey, lamports: share, postBalance, rewardType, commission });
  }
  return { writes, rewards, lamports: sum };
}

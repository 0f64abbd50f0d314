import type { JsonValue } from '../../../../src/base/json.ts';
import {
  at,
  type ContextConfig,
  configObject,
  contextOf,
  positional,
  readAddress,
  requireConfirmed,
} from '../../../../src/protocol/rpc/parameters.ts';
import { member, optional, readStrings, readU64 } from '../../../../src/protocol/rpc/serde.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { Block } from '../../../../src/solana/block.ts';
import { rewardPartition } from '../../../../src/solana/epoch-rewards-hasher.ts';
import type { BlockReward, RewardType } from '../../../../src/solana/transaction/transaction-meta.ts';
import { type Epoch, epoch, type Lamports, type Slot, slot, U64_MAX } from '../../../../src/solana/units.ts';
import type { Bank, LocalNode } from '../node.ts';
import { bankFor } from './context.ts';
import { blockCleanedUp, blockNotAvailable, epochRewardsPeriodActive } from './history-errors.ts';

type GetInflationRewardParams = Readonly<{
  addresses: readonly Address[];
  /** null: the last completed epoch. */
  epoch: Epoch | null;
  config: ContextConfig;
}>;
/** null without a reward. */
type GetInflationRewardResult = readonly (Readonly<{
  amount: bigint;
  /** Percent, u8. A node with SIMD-0291 enabled returns null here and adds `commissionBps`. */
  commission: number | null;
  effectiveSlot: Slot;
  epoch: Epoch;
  postBalance: Lamports;
}> | null)[];

/**
 * `[addresses], {epoch, commitment, minContextSlot}`. Only the body size limits the addresses: Agave's limit of 32
 * was added in 4.3.
 */
export function parseGetInflationReward(params: JsonValue | undefined): GetInflationRewardParams {
  const list = positional(params, 1, 2);
  const texts = at(list, 0, readStrings);
  const config = configObject(list[1], 'RpcEpochConfig');
  const wanted = optional(member(config, 'epoch'), readU64);
  const context = contextOf(config);
  return {
    addresses: texts.map(readAddress),
    epoch: wanted === null ? null : epoch(wanted),
    config: context,
  };
}

/** Reward types of stake accounts. */
const STAKES: readonly RewardType[] = ['Staking', 'DeactivatedStake'];

type FoundReward = Readonly<{ reward: BlockReward; slot: Slot }>;

/** First slot after an epoch, limited to a u64. */
function slotAfter(paid: Epoch, slotsPerEpoch: bigint): Slot {
  const first = (paid + 1n) * slotsPerEpoch;
  return slot(first < U64_MAX ? first : U64_MAX);
}

/** @throws RpcError -32001 if the block was removed, -32004 if it is not available yet. */
function blockAt(node: LocalNode, at: Slot, newest: Slot): Block {
  const first = node.history.firstAvailableSlot;
  if (at < first) throw blockCleanedUp(at, first);
  const block = at <= newest ? node.history.block(at) : null;
  if (block === null) throw blockNotAvailable(at);
  return block;
}

function addRewards(found: Map<Address, FoundReward>, block: Block, types: readonly RewardType[]): void {
  for (const reward of block.rewards) {
    if (reward.rewardType === null || !types.includes(reward.rewardType)) continue;
    found.set(reward.pubkey, { reward, slot: block.slot });
  }
}

/** Block that paid a stake account. @throws RpcError -32017 if it has not been paid yet. */
function partitionBlock(node: LocalNode, boundary: Block, bank: Bank, address: Address): Block {
  const count = boundary.numRewardPartitions ?? 1n;
  const index = rewardPartition(address, boundary.previousBlockhash, count);
  const at = slot(boundary.slot + 1n + BigInt(index));
  if (at > bank.slot) {
    throw epochRewardsPeriodActive({
      currentBlockHeight: bank.blockHeight,
      rewardsCompleteBlockHeight: boundary.slot + count + 1n,
      slot: bank.slot,
    });
  }
  return blockAt(node, at, bank.slot);
}

/** Vote accounts are paid in the first block of the next epoch, stakes in later ones; without partitions, all in the first. */
function findPaid(node: LocalNode, boundary: Block, bank: Bank, addresses: readonly Address[]) {
  const found = new Map<Address, FoundReward>();
  if (boundary.numRewardPartitions === undefined) {
    addRewards(found, boundary, ['Voting', ...STAKES]);
    return found;
  }
  addRewards(found, boundary, ['Voting']);
  const blocks = new Set<Block>();
  for (const address of addresses) {
    if (!found.has(address)) blocks.add(partitionBlock(node, boundary, bank, address));
  }
  for (const block of blocks) addRewards(found, block, STAKES);
  return found;
}

function rewardJson(paid: Epoch, found: FoundReward | undefined): GetInflationRewardResult[number] {
  if (found === undefined) return null;
  const { commission, lamports, postBalance } = found.reward;
  return {
    amount: lamports < 0n ? -lamports : lamports,
    commission,
    effectiveSlot: found.slot,
    epoch: paid,
    postBalance,
  };
}

/** Source: agave rpc/src/rpc.rs, `get_inflation_reward`. */
export function getInflationReward(node: LocalNode, params: JsonValue | undefined): GetInflationRewardResult {
  const { addresses, epoch: wanted, config } = parseGetInflationReward(params);
  const { slotsPerEpoch } = node.genesis.epochSchedule;
  const last = (): Epoch => {
    const current = bankFor(node, config).epoch;
    return epoch(current === 0n ? 0n : current - 1n);
  };
  const paid = wanted ?? last();
  const first = slotAfter(paid, slotsPerEpoch);
  const oldest = node.history.firstAvailableSlot;
  if (first < oldest) throw blockCleanedUp(first, oldest);
  requireConfirmed(config.commitment);
  const bank = bankFor(node, config);
  const boundary = blockAt(node, first, bank.slot);
  const found = findPaid(node, boundary, bank, addresses);
  return addresses.map((address) => rewardJson(paid, found.get(address)));
}

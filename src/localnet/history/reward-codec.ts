import type { ByteReader, ByteWriter } from '../../base/bytes.ts';
import { addressBytes, addressFromBytes } from '../../solana/address.ts';
import type { BlockReward, RewardType } from '../../solana/block.ts';
import { lamports } from '../../solana/units.ts';
import type { SlotRecord } from './slot-record.ts';
import { CorruptRecord } from './transaction-codec.ts';

type Rewards = Pick<SlotRecord, 'rewards' | 'numRewardPartitions'>;

/** Stands where older records have their count, which never was so high. */
const TYPED = 0xffff_ffff;
const NONE = 0xff;
/** Positions are what is stored: more may only be added at the end. */
const types: readonly RewardType[] = ['Fee', 'Rent', 'Staking', 'Voting', 'VATDebit', 'DeactivatedStake'];

/**
 * Writes what a block paid, as the last part of the block:
 *
 *     nothing                                                        no rewards, no partitions
 *     0xffffffff | partitions u64, 0 for none | count u32 | rewards
 *     count u32 | fees                                               as written before rewards had types
 *
 * Reward: address 32, lamports i64, balance u64, type u8, commission u8 (both 255 for none). A fee ends with its
 * balance.
 */
export function writeRewards(writer: ByteWriter, { rewards, numRewardPartitions }: Rewards): void {
  if (rewards.length === 0 && numRewardPartitions === undefined) return;
  writer
    .u32(TYPED)
    .u64(numRewardPartitions ?? 0n)
    .u32(rewards.length);
  for (const { pubkey, lamports: paid, postBalance, rewardType, commission } of rewards) {
    writer.bytes(addressBytes(pubkey)).i64(paid).u64(postBalance);
    writer.u8(rewardType === null ? NONE : types.indexOf(rewardType)).u8(commission ?? NONE);
  }
}

/** Reads what `writeRewards` wrote, now or earlier. @throws OutOfBytes, CorruptRecord */
export function readRewards(reader: ByteReader): Rewards {
  if (reader.remaining === 0) return { rewards: [] };
  const count = reader.u32();
  if (count !== TYPED) return { rewards: readList(reader, count, readFee) };
  const partitions = reader.u64();
  const rewards = readList(reader, reader.u32(), readReward);
  return partitions === 0n ? { rewards } : { rewards, numRewardPartitions: partitions };
}

/** A count that lies runs out of bytes at once, since no item is empty. */
function readList(
  reader: ByteReader,
  count: number,
  read: (reader: ByteReader) => BlockReward,
): BlockReward[] {
  const rewards: BlockReward[] = [];
  for (let left = count; left > 0; left--) rewards.push(read(reader));
  return rewards;
}

const readFee = (reader: ByteReader): BlockReward => ({
  pubkey: addressFromBytes(reader.bytes(32)),
  lamports: reader.i64(),
  postBalance: lamports(reader.u64()),
  rewardType: 'Fee',
  commission: null,
});

function readReward(reader: ByteReader): BlockReward {
  const fee = readFee(reader);
  const [type, commission] = [reader.u8(), reader.u8()];
  const rewardType = type === NONE ? null : types[type];
  if (rewardType === undefined) throw new CorruptRecord('a stored slot record cannot be read');
  return { ...fee, rewardType, commission: commission === NONE ? null : commission };
}

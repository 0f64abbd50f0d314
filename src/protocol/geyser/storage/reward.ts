import type { Address } from '../../../solana/address.ts';
import {
  type BlockReward,
  type RewardType,
  rewardTypes,
} from '../../../solana/transaction/transaction-meta.ts';
import { lamports } from '../../../solana/units.ts';
import { readAddressText, readLamports, readWrappedUint64, required } from '../fields.ts';
import type { ProtobufReader } from '../protobuf.ts';

/** A commission is written as text, '' for none. */
function commissionOf(text: string): number | null {
  return /^\d{1,3}$/.test(text) && Number(text) <= 0xff ? Number(text) : null;
}

/** Reads `Reward`. Types have the numbers of their order, from 1 on; 0 is none. */
export function readReward(reader: ProtobufReader): BlockReward {
  let pubkey: Address | null = null;
  let paid = 0n;
  let postBalance = lamports(0);
  let rewardType: RewardType | null = null;
  let commission: number | null = null;
  while (reader.next()) {
    if (reader.field === 1) pubkey = readAddressText(reader);
    else if (reader.field === 2) paid = reader.int64();
    else if (reader.field === 3) postBalance = readLamports(reader);
    else if (reader.field === 4) rewardType = rewardTypes[reader.uint32() - 1] ?? null;
    else if (reader.field === 5) commission = commissionOf(reader.string());
    else reader.skipField();
  }
  return {
    pubkey: required(pubkey, 'who was paid'),
    lamports: paid,
    postBalance,
    rewardType,
    commission,
  };
}

export type Rewards = Readonly<{ rewards: readonly BlockReward[]; numPartitions: bigint | null }>;

/** Reads `Rewards`. */
export function readRewards(reader: ProtobufReader): Rewards {
  const rewards: BlockReward[] = [];
  let numPartitions: bigint | null = null;
  while (reader.next()) {
    if (reader.field === 1) rewards.push(readReward(reader.message()));
    else if (reader.field === 2) numPartitions = readWrappedUint64(reader);
    else reader.skipField();
  }
  return { rewards, numPartitions };
}

import { type BlockReward, rewardTypes } from '../../../solana/transaction/transaction-meta.ts';
import type { ProtobufWriter } from '../protobuf-writer.ts';

/** Writes a field that is a `Reward`. */
export function writeReward(writer: ProtobufWriter, field: number, reward: BlockReward): void {
  const start = writer.open(field);
  writer.string(1, reward.pubkey);
  writer.uint64OrNone(2, reward.lamports);
  writer.uint64OrNone(3, reward.postBalance);
  if (reward.rewardType !== null) writer.uint32(4, rewardTypes.indexOf(reward.rewardType) + 1);
  if (reward.commission !== null) writer.string(5, String(reward.commission));
  writer.close(start);
}

/** Writes a field that is `Rewards`; there even when it is empty. */
export function writeRewards(
  writer: ProtobufWriter,
  field: number,
  rewards: readonly BlockReward[],
  numPartitions: bigint | null,
): void {
  const start = writer.open(field);
  for (const reward of rewards) writeReward(writer, 1, reward);
  if (numPartitions !== null) {
    const inner = writer.open(2);
    writer.uint64OrNone(1, numPartitions);
    writer.close(inner);
  }
  writer.close(start);
}

import { ByteWriter, readOrNull } from '../../base/bytes.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from '../blockhash.ts';

export const EPOCH_REWARDS_BYTES = 81;

/** Source: solana-epoch-rewards, `EpochRewards`. */
export type EpochRewards = Readonly<{
  distributionStartingBlockHeight: bigint;
  numPartitions: bigint;
  parentBlockhash: Blockhash;
  /** u128. */
  totalPoints: bigint;
  /** Lamports. */
  totalRewards: bigint;
  /** Lamports. */
  distributedRewards: bigint;
  active: boolean;
}>;

const U64_BITS = 64n;

export function encodeEpochRewards(rewards: EpochRewards): Uint8Array {
  return new ByteWriter(EPOCH_REWARDS_BYTES)
    .u64(rewards.distributionStartingBlockHeight)
    .u64(rewards.numPartitions)
    .bytes(blockhashBytes(rewards.parentBlockhash))
    .u64(BigInt.asUintN(64, rewards.totalPoints))
    .u64(rewards.totalPoints >> U64_BITS)
    .u64(rewards.totalRewards)
    .u64(rewards.distributedRewards)
    .bool(rewards.active)
    .finish();
}

/** @returns null when the data is too short. */
export function decodeEpochRewards(data: Uint8Array): EpochRewards | null {
  return readOrNull(data, (reader) => ({
    distributionStartingBlockHeight: reader.u64(),
    numPartitions: reader.u64(),
    parentBlockhash: blockhashFromBytes(reader.bytes(32)),
    totalPoints: reader.u64() | (reader.u64() << U64_BITS),
    totalRewards: reader.u64(),
    distributedRewards: reader.u64(),
    active: reader.bool(),
  }));
}

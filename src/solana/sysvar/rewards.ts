import { ByteWriter, readOrNull } from '../../base/bytes.ts';

export const REWARDS_BYTES = 16;

/** The deprecated value of a validator's point, in lamports. Source: solana-sysvar, `Rewards`. */
export function encodeRewards(validatorPointValue: number): Uint8Array {
  return new ByteWriter(REWARDS_BYTES).f64(validatorPointValue).zeros(8).finish();
}

/** @returns null when the data is too short. */
export function decodeRewards(data: Uint8Array): number | null {
  return readOrNull(data, (reader) => {
    const value = reader.f64();
    // A second number, which nothing ever filled. Source: solana-sysvar `Rewards`.
    reader.skipBytes(8);
    return value;
  });
}

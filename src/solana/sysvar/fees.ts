import { ByteWriter, readOrNull } from '../../base/bytes.ts';

export const FEES_BYTES = 8;

/** The deprecated fee calculator: lamports per signature, u64. Source: solana-sysvar, `Fees`. */
export function encodeFees(lamportsPerSignature: bigint): Uint8Array {
  return new ByteWriter(FEES_BYTES).u64(lamportsPerSignature).finish();
}

/** @returns null when the data is too short. */
export function decodeFees(data: Uint8Array): bigint | null {
  return readOrNull(data, (reader) => reader.u64());
}

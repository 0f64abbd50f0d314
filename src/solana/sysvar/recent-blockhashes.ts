import { ByteWriter, readOrNull } from '../../base/bytes.ts';
import { type Blockhash, blockhashBytes, blockhashFromBytes } from '../blockhash.ts';

export const RECENT_BLOCKHASHES_BYTES = 6008;
export const RECENT_BLOCKHASHES_MAX = 150;

/** Source: solana-sysvar, `recent_blockhashes::Entry`. */
export type RecentBlockhash = Readonly<{ blockhash: Blockhash; lamportsPerSignature: bigint }>;

/**
 * The account's bytes in full size.
 * @param entries - newest first; those beyond 150 are left out.
 */
export function encodeRecentBlockhashes(entries: readonly RecentBlockhash[]): Uint8Array {
  const latest = entries.slice(0, RECENT_BLOCKHASHES_MAX);
  const writer = new ByteWriter(RECENT_BLOCKHASHES_BYTES).u64(BigInt(latest.length));
  for (const { blockhash, lamportsPerSignature } of latest) {
    writer.bytes(blockhashBytes(blockhash)).u64(lamportsPerSignature);
  }
  return writer.zeros(RECENT_BLOCKHASHES_BYTES - writer.length).finish();
}

/** @returns null when the data is no such list. */
export function decodeRecentBlockhashes(data: Uint8Array): RecentBlockhash[] | null {
  return readOrNull(data, (reader) => {
    const count = reader.u64();
    if (count > BigInt(RECENT_BLOCKHASHES_MAX)) return null;
    return Array.from({ length: Number(count) }, () => ({
      blockhash: blockhashFromBytes(reader.bytes(32)),
      lamportsPerSignature: reader.u64(),
    }));
  });
}

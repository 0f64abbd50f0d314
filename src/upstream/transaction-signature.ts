import { ByteReader } from '../base/bytes.ts';
import { decodeBase58 } from '../solana/base58.ts';
import { readShortVec } from '../solana/short-vec.ts';
import { SIGNATURE_BYTES, type Signature, signatureFromBytes } from '../solana/signature.ts';
import { readWireTransaction, VERSION_1_PREFIX } from '../solana/transaction/wire-transaction.ts';

/** More signatures do not fit into a packet. */
const SIGNATURES_MAX = 19;

function wireBytes(params: Buffer): Uint8Array | null {
  const [text, options] = JSON.parse(params.toString('utf8')) as [unknown, { encoding?: unknown }?];
  if (typeof text !== 'string') return null;
  return options?.encoding === 'base64' ? Buffer.from(text, 'base64') : decodeBase58(text);
}

/**
 * First signature of the transaction in sendTransaction params; null unless it is signed. Source: solana-transaction wire
 * format, which starts with a short-vec of 64-byte signatures, except in version 1.
 */
export function signatureOfParams(params: Buffer | null): Signature | null {
  if (params === null) return null;
  try {
    const wire = wireBytes(params);
    if (wire === null) return null;
    if (wire[0] === VERSION_1_PREFIX) {
      const version1 = readWireTransaction(wire);
      return version1 && signatureFromBytes(version1.signature);
    }
    const reader = new ByteReader(wire);
    const count = readShortVec(reader);
    if (count === 0 || count > SIGNATURES_MAX) return null;
    return signatureFromBytes(reader.bytes(SIGNATURE_BYTES));
  } catch {
    return null;
  }
}

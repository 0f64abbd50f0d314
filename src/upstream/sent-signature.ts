import { decodeBase58 } from '../ledger/base58.ts';
import { SIGNATURE_BYTES, type Signature, signatureFromBytes } from '../ledger/signature.ts';

/** Where a legacy or v0 transaction's first signature begins: after the count, which fits one byte. */
const FIRST_SIGNATURE = 1;
/** A count with this bit set would be two bytes long, or marks another format. */
const CONTINUED = 0x80;

function wireBytes(params: Buffer): Uint8Array | null {
  const [text, options] = JSON.parse(params.toString('utf8')) as [unknown, { encoding?: unknown }?];
  if (typeof text !== 'string') return null;
  return options?.encoding === 'base64' ? Buffer.from(text, 'base64') : decodeBase58(text);
}

/**
 * The signature that names the transaction in the params of sendTransaction.
 * Source: solana-transaction wire format: a short-vec of 64-byte signatures comes first.
 * @returns null when the params hold no signed transaction.
 */
export function sentSignature(params: Buffer | null): Signature | null {
  if (params === null) return null;
  try {
    const wire = wireBytes(params);
    const count = wire?.[0] ?? 0;
    const end = FIRST_SIGNATURE + SIGNATURE_BYTES;
    if (wire === null || count === 0 || count >= CONTINUED || wire.length < end) return null;
    return signatureFromBytes(wire.subarray(FIRST_SIGNATURE, end));
  } catch {
    return null;
  }
}

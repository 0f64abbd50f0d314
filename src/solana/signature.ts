import type { Brand } from '../base/brand.ts';
import { decodeBase58, encodeBase58 } from './base58.ts';

/** The first signature of a transaction is its identifier. */
export type Signature = Brand<string, 'Signature'>;

export const SIGNATURE_BYTES = 64;
const SIGNATURE_TEXT_MAX = 88;

export type SignatureFault = 'Invalid' | 'WrongSize';

export function parseSignature(text: string): { signature: Signature } | { fault: SignatureFault } {
  if (text.length > SIGNATURE_TEXT_MAX) return { fault: 'WrongSize' };
  const bytes = decodeBase58(text);
  if (bytes === null) return { fault: 'Invalid' };
  return bytes.length === SIGNATURE_BYTES ? { signature: text as Signature } : { fault: 'WrongSize' };
}

export function signatureFromBytes(bytes: Uint8Array): Signature {
  if (bytes.length !== SIGNATURE_BYTES)
    throw new RangeError(`a signature must be 64 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as Signature;
}

export function signatureBytes(value: Signature): Uint8Array {
  const bytes = decodeBase58(value);
  if (bytes === null) throw new RangeError(`not a signature: ${value}`);
  return bytes;
}

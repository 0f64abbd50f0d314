import type { Brand } from '../base/brand.ts';
import { decodeBase58, encodeBase58 } from './base58.ts';

/** A 64-byte ed25519 signature, as base58 text. The first of a transaction is its name. */
export type Signature = Brand<string, 'Signature'>;

export const SIGNATURE_BYTES = 64;
/** 64 bytes never need more base58 characters than this. */
export const SIGNATURE_TEXT_MAX = 88;

export type SignatureFault = 'Invalid' | 'WrongSize';

/** The signature in a base58 text, or what is wrong with the text. */
export function parseSignature(text: string): { signature: Signature } | { fault: SignatureFault } {
  if (text.length > SIGNATURE_TEXT_MAX) return { fault: 'WrongSize' };
  const bytes = decodeBase58(text);
  if (bytes === null) return { fault: 'Invalid' };
  return bytes.length === SIGNATURE_BYTES ? { signature: text as Signature } : { fault: 'WrongSize' };
}

/** The signature of 64 bytes. */
export function signatureFromBytes(bytes: Uint8Array): Signature {
  if (bytes.length !== SIGNATURE_BYTES) throw new RangeError(`a signature has 64 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as Signature;
}

/** The 64 bytes of a signature. */
export function signatureBytes(value: Signature): Uint8Array {
  const bytes = decodeBase58(value);
  if (bytes === null) throw new RangeError(`not a signature: ${value}`);
  return bytes;
}

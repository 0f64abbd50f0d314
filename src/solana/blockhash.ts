import type { Brand } from '../base/brand.ts';
import { decodeBase58, encodeBase58 } from './base58.ts';

export type Blockhash = Brand<string, 'Blockhash'>;

export const BLOCKHASH_BYTES = 32;

export function parseBlockhash(text: string): { blockhash: Blockhash } | { fault: 'Invalid' | 'WrongSize' } {
  if (text.length > 44) return { fault: 'WrongSize' };
  const bytes = decodeBase58(text);
  if (bytes === null) return { fault: 'Invalid' };
  return bytes.length === BLOCKHASH_BYTES ? { blockhash: text as Blockhash } : { fault: 'WrongSize' };
}

export function blockhashFromBytes(bytes: Uint8Array): Blockhash {
  if (bytes.length !== BLOCKHASH_BYTES)
    throw new RangeError(`a blockhash must be 32 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as Blockhash;
}

export function blockhashBytes(value: Blockhash): Uint8Array {
  const bytes = decodeBase58(value);
  if (bytes === null) throw new RangeError(`not a blockhash: ${value}`);
  return bytes;
}

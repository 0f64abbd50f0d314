import { base58 } from '@scure/base';
import { decodeBase58Text } from '../../src/protocol/rpc/base58-text.ts';
import { decodeBase64 } from '../../src/protocol/rpc/base64-text.ts';
import { addressBytes, addressFromBytes, parseAddress } from '../../src/solana/address.ts';
import { decodeBase58, encodeBase58 } from '../../src/solana/base58.ts';
import { parseBlockhash } from '../../src/solana/blockhash.ts';
import { parseSignature, signatureBytes, signatureFromBytes } from '../../src/solana/signature.ts';

export const from = 'clients and nodes';
export const covers = [
  'solana/address.ts',
  'solana/base58.ts',
  'solana/base58.ts',
  'solana/blockhash.ts',
  'solana/signature.ts',
  'protocol/rpc/base58-text.ts',
  'protocol/rpc/base64-text.ts',
];

/** Texts; the bytes of an input are written as such besides. */
export const seeds: readonly Uint8Array[] = [
  ...[32, 64].flatMap((length) => [0, 1, 255].map((fill) => new Uint8Array(length).fill(fill))),
  ...[
    '11111111111111111111111111111111',
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    'AAEC',
    'AA==',
    '0OIl',
  ].map((text) => Buffer.from(text)),
  Buffer.from(encodeBase58(new Uint8Array(64).fill(9))),
];

/** What the library makes of a text; null where it is none. */
function expected(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}

const isSame = (a: Uint8Array | null, b: Uint8Array | null): boolean =>
  a === null || b === null ? a === b : Buffer.compare(a, b) === 0;

/** Each reader of base58 agrees with the library about a text. */
function checkText(text: string): boolean {
  const bytes = expected(text);
  if (!isSame(decodeBase58(text), bytes)) throw new Error('reads other bytes than the library');
  const short = decodeBase58Text(text);
  if (!isSame('fault' in short ? null : short.bytes, bytes)) throw new Error('takes what is no base58');
  const [address, hash, signature] = [parseAddress(text), parseBlockhash(text), parseSignature(text)];
  if ('address' in address !== (bytes?.length === 32)) throw new Error('an address of another length');
  if ('blockhash' in hash !== 'address' in address) throw new Error('a hash of another length');
  if ('signature' in signature !== (bytes?.length === 64)) throw new Error('a signature of another length');
  const base64 = decodeBase64(text);
  if (!('fault' in base64) && Buffer.from(base64.bytes).toString('base64') !== text)
    throw new Error('a second text for the same bytes');
  return bytes !== null || !('fault' in base64);
}

/** Bytes are read again from the text that is written of them. */
export function fuzz(input: Uint8Array): boolean {
  const bytes = input.subarray(0, 200);
  const text = encodeBase58(bytes);
  if (text !== base58.encode(bytes) || !isSame(decodeBase58(text), bytes))
    throw new Error('written otherwise');
  if (input.length === 32 && !isSame(addressBytes(addressFromBytes(input)), input))
    throw new Error('an address changes');
  if (input.length === 64 && !isSame(signatureBytes(signatureFromBytes(input)), input))
    throw new Error('a signature changes');
  checkText(text);
  return checkText(Buffer.from(bytes).toString('latin1'));
}

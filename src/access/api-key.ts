import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Product, products } from '../protocol/product.ts';
import type { KeyId } from './key-record.ts';

/**
 * An API key as the customer holds it:
 *
 *     svc_rpc_live_ 7hQ2mKpZ 3vYx…(32) 2NEpo7
 *     prefix        id       secret    crc
 *
 * All but the prefix is base58. The id is public and names the key in logs and tables; the secret is 187 bits
 * of chance; the crc (CRC-32 of all before it) tells a mistyped key from a wrong one without looking anything
 * up. The crc is no security: whoever forges a key can compute it.
 */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ID_LENGTH = 8;
const SECRET_LENGTH = 32;
const CRC_LENGTH = 6;
const TAIL_LENGTH = ID_LENGTH + SECRET_LENGTH + CRC_LENGTH;

/** The longest key of any product, in characters. */
export const API_KEY_LENGTH_MAX =
  Math.max(...Object.values(products).map(({ prefix }) => prefix.length)) + TAIL_LENGTH;

const PATTERN = /^svc_(rpc|grpc|fs)_live_([1-9A-HJ-NP-Za-km-z]{8})[1-9A-HJ-NP-Za-km-z]{38}$/;

/** What a well-formed key says about itself, before anybody has looked it up. */
export type ParsedApiKey = Readonly<{ product: Product; id: KeyId }>;

/** Why a text cannot be a key: it does not look like one, or characters of it were changed. */
export type ApiKeyFault = 'pattern' | 'checksum';

/** CRC-32 as six base58 digits, most significant first; 58^6 is more than 2^32. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CRC_LENGTH; i++) {
    digits = `${ALPHABET[rest % 58]}${digits}`;
    rest = Math.floor(rest / 58);
  }
  return digits;
}

/**
 * Uniform base58 characters from the system's CSPRNG: bytes of 232 (four times 58) and more are thrown away, so
 * that no character is likelier than another.
 */
function randomBase58(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) if (byte < 232) text += ALPHABET[byte % 58];
  }
  return text;
}

/** A new key. The text is shown to its owner once and kept nowhere. */
export function generateApiKey(product: Product): Readonly<{ text: string; id: KeyId }> {
  const id = randomBase58(ID_LENGTH);
  const body = `${products[product].prefix}${id}${randomBase58(SECRET_LENGTH)}`;
  return { text: body + checksum(body), id: id as KeyId };
}

/** Reads a key by pattern and checksum only. */
export function parseApiKey(text: string): ParsedApiKey | ApiKeyFault {
  if (text.length > API_KEY_LENGTH_MAX) return 'pattern';
  const match = PATTERN.exec(text);
  if (match === null) return 'pattern';
  if (checksum(text.slice(0, -CRC_LENGTH)) !== text.slice(-CRC_LENGTH)) return 'checksum';
  return { product: match[1] as Product, id: match[2] as KeyId };
}

/** What is stored of a key: HMAC-SHA-256 of its whole text under the server's pepper; 32 bytes. */
export const digestApiKey = (text: string, pepper: Buffer): Buffer =>
  createHmac('sha256', pepper).update(text).digest();

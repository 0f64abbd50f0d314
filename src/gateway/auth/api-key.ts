import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Product, products } from '../../protocol/product.ts';
import type { KeyId } from './key-record.ts';

/**
 * API key format (spaces added): svc_rpc_live_ 7hQ2mKpZ 3vYx… 2NEpo7. The product prefix is followed by the id
 * (8 characters), secret (32) and checksum (6) in base58. The id is public and identifies the key in logs and tables.
 * The secret has 187 bits of entropy. The checksum (CRC-32 of the text before it) detects typos without a lookup.
 */
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
export const KEY_ID_LENGTH = 8;
const SECRET_LENGTH = 32;
const CRC_LENGTH = 6;
const TAIL_LENGTH = KEY_ID_LENGTH + SECRET_LENGTH + CRC_LENGTH;

export const API_KEY_LENGTH_MAX =
  Math.max(...Object.values(products).map(({ prefix }) => prefix.length)) + TAIL_LENGTH;

const ID = `[${ALPHABET}]{${KEY_ID_LENGTH}}`;
const PREFIX = Object.values(products)
  .map(({ prefix }) => prefix)
  .join('|');
const KEY_PATTERN = new RegExp(`^(${PREFIX})(${ID})[${ALPHABET}]{${SECRET_LENGTH + CRC_LENGTH}}$`);
const ANYWHERE_PATTERN = new RegExp(`(?:${PREFIX})[${ALPHABET}]{${TAIL_LENGTH}}`, 'g');
const TAIL_PATTERN = new RegExp(`^[${ALPHABET}]{${TAIL_LENGTH}}$`);
const KEY_ID_PATTERN = new RegExp(`^(?:${PREFIX})?(${ID})$`);
const productNames = Object.keys(products) as Product[];

export type ParsedApiKey = Readonly<{ product: Product; id: KeyId }>;

/** `pattern`: not in API key format. `checksum`: in API key format, but the checksum does not match. */
export type ApiKeyFault = 'pattern' | 'checksum';

/** CRC-32 in base58, most significant digit first. Six digits suffice, because 58^6 > 2^32. */
function checksum(text: string): string {
  let remainder = crc32(text);
  let digits = '';
  for (let i = 0; i < CRC_LENGTH; i++) {
    digits = `${ALPHABET[remainder % 58]}${digits}`;
    remainder = Math.floor(remainder / 58);
  }
  return digits;
}

/** Avoids modulo bias by discarding bytes of 232 (4 × 58) and above. */
function randomBase58(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) if (byte < 232) text += ALPHABET[byte % 58];
  }
  return text;
}

/** Generates a credential in API key format with the given prefix. */
export function generateCredential(prefix: string): Readonly<{ text: string; id: string }> {
  const id = randomBase58(KEY_ID_LENGTH);
  const body = `${prefix}${id}${randomBase58(SECRET_LENGTH)}`;
  return { text: body + checksum(body), id };
}

/** Returns the id of a credential with this prefix; null if the pattern or the checksum does not match. */
export function credentialId(prefix: string, text: string): string | null {
  if (text.length !== prefix.length + TAIL_LENGTH || !text.startsWith(prefix)) return null;
  if (!TAIL_PATTERN.test(text.slice(prefix.length))) return null;
  if (checksum(text.slice(0, -CRC_LENGTH)) !== text.slice(-CRC_LENGTH)) return null;
  return text.slice(prefix.length, prefix.length + KEY_ID_LENGTH);
}

/** Generates an API key. The text is shown once and never stored. */
export function generateApiKey(product: Product): Readonly<{ text: string; id: KeyId }> {
  const { text, id } = generateCredential(products[product].prefix);
  return { text, id: id as KeyId };
}

/** Extracts the id by its position. Does not validate the text, which may not be a key. */
export const uncheckedKeyId = (text: string): KeyId =>
  text.slice(-TAIL_LENGTH, KEY_ID_LENGTH - TAIL_LENGTH) as KeyId;

/** Checks only the pattern and the checksum. */
export function parseApiKey(text: string): ParsedApiKey | ApiKeyFault {
  if (text.length > API_KEY_LENGTH_MAX) return 'pattern';
  const match = KEY_PATTERN.exec(text);
  if (match === null) return 'pattern';
  if (checksum(text.slice(0, -CRC_LENGTH)) !== text.slice(-CRC_LENGTH)) return 'checksum';
  const product = productNames.find((name) => products[name].prefix === match[1]);
  return { product: product as Product, id: match[2] as KeyId };
}

export const findApiKeys = (text: string): readonly string[] =>
  (text.match(ANYWHERE_PATTERN) ?? []).filter((found) => typeof parseApiKey(found) !== 'string');

/** Accepts a key id, with or without the prefix, or a whole key. @returns the id; null for any other text. */
export function parseKeyId(text: string): KeyId | null {
  const id = KEY_ID_PATTERN.exec(text)?.[1];
  if (id !== undefined) return id as KeyId;
  const parsed = parseApiKey(text);
  return typeof parsed === 'string' ? null : parsed.id;
}

/** HMAC-SHA-256 keyed with the server's pepper. Only this digest is stored, never the key. */
export const digestApiKey = (text: string, pepper: Buffer): Buffer =>
  createHmac('sha256', pepper).update(text).digest();

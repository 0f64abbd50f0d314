import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type Product, products } from '../../protocol/product.ts';
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

const ID = `[${ALPHABET}]{${ID_LENGTH}}`;
const PREFIX = Object.values(products)
  .map(({ prefix }) => prefix)
  .join('|');
const KEY_PATTERN = new RegExp(`^(${PREFIX})(${ID})[${ALPHABET}]{${SECRET_LENGTH + CRC_LENGTH}}$`);
const ANYWHERE_PATTERN = new RegExp(`(?:${PREFIX})[${ALPHABET}]{${TAIL_LENGTH}}`, 'g');
const TAIL_PATTERN = new RegExp(`^[${ALPHABET}]{${TAIL_LENGTH}}$`);
const NAME_PATTERN = new RegExp(`^(?:${PREFIX})?(${ID})$`);
const productNames = Object.keys(products) as Product[];

/** What a well-formed key says about itself, before anybody has looked it up. */
export type ParsedApiKey = Readonly<{ product: Product; id: KeyId }>;

/** Why a text cannot be a key: it does not look like one, or characters of it were changed. */
export type ApiKeyFault = 'pattern' | 'checksum';

/** CRC-32 as six base58 digits, most significant first; 58^6 is more than 2^32. */
function checksum(text: string): string {
  let remainder = crc32(text);
  let digits = '';
  for (let i = 0; i < CRC_LENGTH; i++) {
    digits = `${ALPHABET[remainder % 58]}${digits}`;
    remainder = Math.floor(remainder / 58);
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

/** A new credential of the form of keys, behind a prefix of its own: id, secret, checksum. */
export function generateCredential(prefix: string): Readonly<{ text: string; id: string }> {
  const id = randomBase58(ID_LENGTH);
  const body = `${prefix}${id}${randomBase58(SECRET_LENGTH)}`;
  return { text: body + checksum(body), id };
}

/** The id of a credential with this prefix; null where pattern or checksum say that it is none. */
export function credentialId(prefix: string, text: string): string | null {
  if (text.length !== prefix.length + TAIL_LENGTH || !text.startsWith(prefix)) return null;
  if (!TAIL_PATTERN.test(text.slice(prefix.length))) return null;
  if (checksum(text.slice(0, -CRC_LENGTH)) !== text.slice(-CRC_LENGTH)) return null;
  return text.slice(prefix.length, prefix.length + ID_LENGTH);
}

/** A new key. The text is shown to its owner once and kept nowhere. */
export function generateApiKey(product: Product): Readonly<{ text: string; id: KeyId }> {
  const { text, id } = generateCredential(products[product].prefix);
  return { text, id: id as KeyId };
}

/** Where the id stands in a text, if it is a key; whether it is one is not looked at. */
export const uncheckedKeyId = (text: string): KeyId =>
  text.slice(-TAIL_LENGTH, ID_LENGTH - TAIL_LENGTH) as KeyId;

/** Reads a key by pattern and checksum only. */
export function parseApiKey(text: string): ParsedApiKey | ApiKeyFault {
  if (text.length > API_KEY_LENGTH_MAX) return 'pattern';
  const match = KEY_PATTERN.exec(text);
  if (match === null) return 'pattern';
  if (checksum(text.slice(0, -CRC_LENGTH)) !== text.slice(-CRC_LENGTH)) return 'checksum';
  const product = productNames.find((name) => products[name].prefix === match[1]);
  return { product: product as Product, id: match[2] as KeyId };
}

/** Every well-formed key that stands somewhere in a text, in their order. */
export const findApiKeys = (text: string): readonly string[] =>
  (text.match(ANYWHERE_PATTERN) ?? []).filter((found) => typeof parseApiKey(found) !== 'string');

/**
 * The id of a key that a person names by its id, by its start as lists show it, or by the whole key; null when it
 * is none of these.
 */
export function parseKeyId(text: string): KeyId | null {
  const id = NAME_PATTERN.exec(text)?.[1];
  if (id !== undefined) return id as KeyId;
  const parsed = parseApiKey(text);
  return typeof parsed === 'string' ? null : parsed.id;
}

/** What is stored of a key: HMAC-SHA-256 of its whole text under the server's pepper; 32 bytes. */
export const digestApiKey = (text: string, pepper: Buffer): Buffer =>
  createHmac('sha256', pepper).update(text).digest();

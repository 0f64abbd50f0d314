import { randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { decodeBase58, encodeBase58 } from '../../solana/base58.ts';
import type { DeriveKey } from './key-derivation.ts';

/**
 * A secret key encrypted with a password, in the format that clients decrypt: a NaCl secretbox that contains the
 * 64-byte secret key as base58 text. PBKDF2 derives the key of the secretbox. Source: rest-api.md §5.
 */
export type Envelope = Readonly<{
  /** The secretbox in base58. */
  encryptedPrivateKey: string;
  /** `Params` as JSON. */
  decryptionKey: string;
}>;

/** Everything needed for decryption except the password. Bytes are in base58. */
type Params = Readonly<{ salt: string; kdf: 'pbkdf2'; digest: 'sha256'; iterations: number; nonce: string }>;

const SALT_BYTES = 16;
const NONCE_BYTES = 24;

/** Encrypts a 64-byte secret key. @throws Failure OVERLOADED */
export async function seal(
  secretKey: Uint8Array,
  password: string,
  iterations: number,
  keyOf: DeriveKey,
): Promise<Envelope> {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const key = await keyOf(password, salt, iterations);
  const text = Buffer.from(encodeBase58(secretKey), 'utf8');
  try {
    const params: Params = {
      salt: encodeBase58(salt),
      kdf: 'pbkdf2',
      digest: 'sha256',
      iterations,
      nonce: encodeBase58(nonce),
    };
    return {
      encryptedPrivateKey: encodeBase58(xsalsa20poly1305(key, nonce).encrypt(text)),
      decryptionKey: JSON.stringify(params),
    };
  } finally {
    key.fill(0);
    text.fill(0);
  }
}

function bytesOf(text: string): Uint8Array {
  const bytes = decodeBase58(text);
  if (bytes === null) throw new RangeError('a stored envelope is corrupt');
  return bytes;
}

function tryDecrypt(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Uint8Array | null {
  try {
    return xsalsa20poly1305(key, nonce).decrypt(box);
  } catch {
    return null;
  }
}

/** Returns the secret key in base58; null if the password is wrong. @throws Failure OVERLOADED */
export async function open(envelope: Envelope, password: string, keyOf: DeriveKey): Promise<string | null> {
  const { salt, nonce, iterations } = JSON.parse(envelope.decryptionKey) as Params;
  const key = await keyOf(password, bytesOf(salt), iterations);
  const text = tryDecrypt(key, bytesOf(nonce), bytesOf(envelope.encryptedPrivateKey));
  key.fill(0);
  if (text === null) return null;
  const secretKey = Buffer.from(text).toString('utf8');
  text.fill(0);
  return secretKey;
}

/** Takes as long as `open`, to hide whether a wallet exists. @throws Failure OVERLOADED */
export async function simulateOpen(password: string, iterations: number, keyOf: DeriveKey): Promise<void> {
  const key = await keyOf(password, randomBytes(SALT_BYTES), iterations);
  key.fill(0);
}

import { randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { decodeBase58, encodeBase58 } from '../../solana/base58.ts';
import type { DeriveKey } from './key-derivation.ts';

/**
 * A secret key under a password, in the format that clients of the interface decrypt by themselves: the base58 text of
 * the 64 bytes, as UTF-8, in a NaCl secretbox, whose key is PBKDF2 of the password. Source: rest-api.md §5.
 */
export type Envelope = Readonly<{
  /** The secretbox, base58. */
  encryptedPrivateKey: string;
  /** JSON of `{salt, kdf, digest, iterations, nonce}`, bytes in base58: all that decrypting needs but the password. */
  decryptionKey: string;
}>;

type Params = Readonly<{ salt: string; kdf: 'pbkdf2'; digest: 'sha256'; iterations: number; nonce: string }>;

const SALT_BYTES = 16;
const NONCE_BYTES = 24;

/** Puts a secret key of 64 bytes under a password. @throws Failure OVERLOADED */
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

/** Bytes of base58 that this program has written. */
function bytesOf(text: string): Uint8Array {
  const bytes = decodeBase58(text);
  if (bytes === null) throw new RangeError('an envelope that was kept is damaged');
  return bytes;
}

function opened(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Uint8Array | null {
  try {
    return xsalsa20poly1305(key, nonce).decrypt(box);
  } catch {
    return null;
  }
}

/**
 * The secret key in an envelope that `seal` has made, as base58 text.
 * @returns null when the password is another one.
 * @throws Failure OVERLOADED
 */
export async function open(envelope: Envelope, password: string, keyOf: DeriveKey): Promise<string | null> {
  const { salt, nonce, iterations } = JSON.parse(envelope.decryptionKey) as Params;
  const key = await keyOf(password, bytesOf(salt), iterations);
  const text = opened(key, bytesOf(nonce), bytesOf(envelope.encryptedPrivateKey));
  key.fill(0);
  if (text === null) return null;
  const secretKey = Buffer.from(text).toString('utf8');
  text.fill(0);
  return secretKey;
}

/** Takes the time of `open`, where there is nothing to open. @throws Failure OVERLOADED */
export async function simulateOpen(password: string, iterations: number, keyOf: DeriveKey): Promise<void> {
  const key = await keyOf(password, randomBytes(SALT_BYTES), iterations);
  key.fill(0);
}

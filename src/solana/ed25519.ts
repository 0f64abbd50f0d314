import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign as signMessage,
  verify as verifySignature,
} from 'node:crypto';
import { type Address, addressBytes, addressFromBytes } from './address.ts';
import { signatureBytes } from './signature.ts';
import type { Transaction } from './transaction/transaction.ts';

/** KeyObjects are cached: creating a KeyObject takes a tenth as long as verifying a signature. */
const KEYS_MAX = 4096;
const keyObjects = new Map<string, KeyObject>();

function publicKeyObject(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.length).toString('base64url');
  const known = keyObjects.get(x);
  if (known !== undefined) return known;
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  if (keyObjects.size >= KEYS_MAX) keyObjects.delete(keyObjects.keys().next().value ?? '');
  keyObjects.set(x, key);
  return key;
}

/**
 * Encodings of small-order points, with the sign bit cleared. A signature made with such a key can be valid for many
 * messages, so Solana rejects these points (`verify_strict`). OpenSSL 3.5 does too, but Node may link another version.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

function isSmallOrder(point: Uint8Array): boolean {
  const first = point[0] ?? 0;
  // Fast path: the first byte alone rules out most points.
  if (first !== 0 && first !== 1 && first !== 0x26 && first !== 0xc7 && first < 0xec) return false;
  const cleared = Buffer.from(point);
  cleared[31] = (cleared[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(cleared.toString('hex'));
}

/** Rejects small-order points, as Solana's `verify_strict` does; OpenSSL checks that s is canonical. */
export function verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  if (isSmallOrder(publicKey) || isSmallOrder(signature.subarray(0, 32))) return false;
  return verifySignature(null, message, publicKeyObject(publicKey), signature);
}

export function verifyTransaction(transaction: Transaction): boolean {
  const { signatures, message, messageBytes } = transaction;
  if (signatures.length === 0 || signatures.length !== message.header.numRequiredSignatures) return false;
  return signatures.every((signature, index) => {
    const key = message.accountKeys[index];
    return key !== undefined && verify(signatureBytes(signature), messageBytes, addressBytes(key));
  });
}

/** Source: RFC 8410, §7. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The secret is a private field, so that it cannot be logged. */
export class Keypair {
  readonly address: Address;
  readonly #seed: Uint8Array;
  readonly #key: KeyObject;

  private constructor(seed: Uint8Array) {
    this.#seed = Uint8Array.from(seed);
    this.#key = createPrivateKey({
      key: Buffer.concat([PKCS8_PREFIX, seed]),
      format: 'der',
      type: 'pkcs8',
    });
    const { x } = createPublicKey(this.#key).export({ format: 'jwk' });
    this.address = addressFromBytes(Buffer.from(x ?? '', 'base64url'));
  }

  static generate(): Keypair {
    return new Keypair(randomBytes(32));
  }

  static fromSeed(seed: Uint8Array): Keypair {
    if (seed.length !== 32) throw new RangeError(`a seed must be 32 bytes, not ${seed.length}`);
    return new Keypair(seed);
  }

  /** @param secretKey - seed, then public key. @throws RangeError if the length is wrong or the halves do not match. */
  static fromSecretKey(secretKey: Uint8Array): Keypair {
    if (secretKey.length !== 64)
      throw new RangeError(`a secret key must be 64 bytes, not ${secretKey.length}`);
    const keypair = new Keypair(secretKey.subarray(0, 32));
    if (!Buffer.from(addressBytes(keypair.address)).equals(secretKey.subarray(32))) {
      throw new RangeError('the public key does not match the seed');
    }
    return keypair;
  }

  /** Parses a Solana CLI keypair file. @throws RangeError, whose message never contains the file's text. */
  static fromJson(text: string): Keypair {
    const bytes = parseByteArray(text);
    if (bytes === null)
      throw new RangeError('a keypair file must be a JSON array of 64 numbers from 0 to 255');
    return Keypair.fromSecretKey(bytes);
  }

  sign(message: Uint8Array): Uint8Array {
    return new Uint8Array(signMessage(null, message, this.#key));
  }

  toJson(): string {
    return JSON.stringify([...this.#seed, ...addressBytes(this.address)]);
  }
}

function parseByteArray(text: string): Uint8Array | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const isByte = (item: unknown): boolean =>
    typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255;
  return Array.isArray(value) && value.length === 64 && value.every(isByte) ? Uint8Array.from(value) : null;
}

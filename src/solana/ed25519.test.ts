import { createHash } from 'node:crypto';
import { Keypair as OracleKeypair } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { addressBytes } from './address.ts';
import { Keypair, verify } from './ed25519.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
const message = new TextEncoder().encode('a message');

const IDENTITY = Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? 1 : 0));
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

const sha512 = (...parts: Uint8Array[]): Uint8Array =>
  createHash('sha512').update(Buffer.concat(parts)).digest();

const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, byte) => value * 256n + BigInt(byte), 0n);

const bytesOf = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 255n));

const scalarBytes = (value: bigint): Uint8Array => bytesOf(value % ORDER);

/** RFC 8032, §5.1.5. */
function secretScalar(seed: Uint8Array): bigint {
  const half = sha512(seed).slice(0, 32);
  half[0] = (half[0] ?? 0) & 248;
  half[31] = ((half[31] ?? 0) & 127) | 64;
  return littleEndian(half);
}

const challenge = (point: Uint8Array, key: Uint8Array): bigint => littleEndian(sha512(point, key, message));

function withBit(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

describe('signature verification', () => {
  it('accepts RFC 8032 test 2', () => {
    const keypair = Keypair.fromSeed(hex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb'));
    const signature = hex(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    );
    expect(addressBytes(keypair.address)).toEqual(
      hex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c'),
    );
    expect(keypair.sign(Uint8Array.of(0x72))).toEqual(signature);
    expect(verify(signature, Uint8Array.of(0x72), addressBytes(keypair.address))).toBe(true);
  });

  it('rejects any changed bit of signature, message or key', () => {
    const keypair = Keypair.generate();
    const [signature, key] = [keypair.sign(message), addressBytes(keypair.address)];
    expect(verify(signature, message, key)).toBe(true);
    for (let bit = 0; bit < 512; bit += 3) expect(verify(withBit(signature, bit), message, key)).toBe(false);
    for (let bit = 0; bit < 72; bit++) expect(verify(signature, withBit(message, bit), key)).toBe(false);
    for (let bit = 0; bit < 256; bit += 3) expect(verify(signature, message, withBit(key, bit))).toBe(false);
  });

  it('rejects signatures and keys of another size', () => {
    const [signature, key] = [new Uint8Array(64).fill(3), new Uint8Array(32).fill(3)];
    for (const other of [signature.subarray(1), new Uint8Array(65), new Uint8Array(0)])
      expect(verify(other, message, key)).toBe(false);
    for (const other of [key.subarray(1), new Uint8Array(33)])
      expect(verify(signature, message, other)).toBe(false);
  });

  it('rejects small-order keys and points that satisfy the equation', () => {
    const seed = new Uint8Array(32).fill(3);
    const key = addressBytes(Keypair.fromSeed(seed).address);
    const scalar = secretScalar(seed);
    // With the identity as key, S = a and R = aB satisfy every message.
    expect(verify(Uint8Array.from([...key, ...scalarBytes(scalar)]), message, IDENTITY)).toBe(false);
    // With the identity as R, S = ha satisfies the equation.
    const ha = challenge(IDENTITY, key) * scalar;
    expect(verify(Uint8Array.from([...IDENTITY, ...scalarBytes(ha)]), message, key)).toBe(false);
    // An ordinary R gives a valid signature.
    const otherSeed = new Uint8Array(32).fill(5);
    const point = addressBytes(Keypair.fromSeed(otherSeed).address);
    const sum = secretScalar(otherSeed) + challenge(point, key) * scalar;
    expect(verify(Uint8Array.from([...point, ...scalarBytes(sum)]), message, key)).toBe(true);
  });

  it('rejects S not below the group order', () => {
    const keypair = Keypair.generate();
    const signature = keypair.sign(message);
    const s = littleEndian(signature.subarray(32)) + ORDER;
    const malleated = Uint8Array.from([...signature.subarray(0, 32), ...bytesOf(s)]);
    expect(verify(malleated, message, addressBytes(keypair.address))).toBe(false);
  });
});

describe('keypair', () => {
  it('round-trips a Solana CLI file of one line', () => {
    const keypair = Keypair.generate();
    const text = keypair.toJson();
    expect(text).toMatch(/^\[(\d{1,3},){63}\d{1,3}\]$/);
    expect(Keypair.fromJson(`${text}\n`).address).toBe(keypair.address);
    expect(OracleKeypair.fromSecretKey(Uint8Array.from(JSON.parse(text))).publicKey.toBase58()).toBe(
      keypair.address,
    );
  });

  it('rejects mismatching halves and wrong sizes', () => {
    const secret = Uint8Array.from(JSON.parse(Keypair.generate().toJson()));
    expect(() => Keypair.fromSecretKey(withBit(secret, 400))).toThrow('does not match');
    expect(() => Keypair.fromSecretKey(secret.subarray(1))).toThrow(RangeError);
    expect(() => Keypair.fromSeed(secret)).toThrow(RangeError);
  });

  it('rejects invalid files without repeating their text', () => {
    for (const text of [
      '[1,2,3',
      '[1,2,3]',
      '{}',
      `[${Array(64).fill(256).join()}]`,
      `[${Array(64).fill(1.5).join()}]`,
    ]) {
      expect(() => Keypair.fromJson(text)).toThrow(
        new RangeError('a keypair file must be a JSON array of 64 numbers from 0 to 255'),
      );
    }
  });

  it('does not print its secret', () => {
    const keypair = Keypair.fromSeed(new Uint8Array(32).fill(0xab));
    expect(JSON.stringify(keypair)).toBe(JSON.stringify({ address: keypair.address }));
  });
});

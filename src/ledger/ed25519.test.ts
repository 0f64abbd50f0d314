import { Keypair as OracleKeypair } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressBytes } from './address.ts';
import { Keypair, verify } from './ed25519.ts';

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
const message = new TextEncoder().encode('a message');

function withBit(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
}

describe('a signature', () => {
  it('is the one of RFC 8032, test 2', () => {
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

  it('holds for nothing else: no bit of it, of its message or of its key may change', () => {
    const keypair = Keypair.generate();
    const [signature, key] = [keypair.sign(message), addressBytes(keypair.address)];
    expect(verify(signature, message, key)).toBe(true);
    for (let bit = 0; bit < 512; bit += 3) expect(verify(withBit(signature, bit), message, key)).toBe(false);
    for (let bit = 0; bit < 72; bit++) expect(verify(signature, withBit(message, bit), key)).toBe(false);
    for (let bit = 0; bit < 256; bit += 3) expect(verify(signature, message, withBit(key, bit))).toBe(false);
  });

  it('is refused, not thrown at, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.uint8Array({ maxLength: 40 }), (signature, key) => {
        expect(verify(signature, message, key)).toBe(false);
      }),
    );
    const [any, key] = [new Uint8Array(64).fill(3), new Uint8Array(32).fill(3)];
    expect(verify(any, message, key)).toBe(false);
  });

  it('is refused under a key of small order, where OpenSSL would accept it', () => {
    // The identity as key and as R with S = 0 satisfies the equation for every message.
    const identity = Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? 1 : 0));
    const signature = Uint8Array.from([...identity, ...new Uint8Array(32)]);
    expect(verify(signature, message, identity)).toBe(false);
    const signed = withBit(identity, 255);
    expect(verify(Uint8Array.from([...signed, ...new Uint8Array(32)]), message, identity)).toBe(false);
  });
});

describe('a keypair', () => {
  it('is the one that web3.js makes of the same seed', () => {
    const oracle = OracleKeypair.generate();
    const keypair = Keypair.fromSecretKey(oracle.secretKey);
    expect(keypair.address).toBe(oracle.publicKey.toBase58());
    expect(Keypair.fromSeed(oracle.secretKey.subarray(0, 32)).address).toBe(keypair.address);
  });

  it('goes to the file of the Solana CLI and back, on one line', () => {
    const keypair = Keypair.generate();
    const text = keypair.toJson();
    expect(text).toMatch(/^\[(\d{1,3},){63}\d{1,3}\]$/);
    expect(Keypair.fromJson(`${text}\n`).address).toBe(keypair.address);
    expect(OracleKeypair.fromSecretKey(Uint8Array.from(JSON.parse(text))).publicKey.toBase58()).toBe(
      keypair.address,
    );
  });

  it('is refused when its halves do not belong together or its size is wrong', () => {
    const secret = Uint8Array.from(JSON.parse(Keypair.generate().toJson()));
    expect(() => Keypair.fromSecretKey(withBit(secret, 400))).toThrow('does not belong');
    expect(() => Keypair.fromSecretKey(secret.subarray(1))).toThrow(RangeError);
    expect(() => Keypair.fromSeed(secret)).toThrow(RangeError);
  });

  it('is refused without repeating the text of the file', () => {
    for (const text of [
      '[1,2,3',
      '[1,2,3]',
      '{}',
      `[${Array(64).fill(256).join()}]`,
      `[${Array(64).fill(1.5).join()}]`,
    ]) {
      expect(() => Keypair.fromJson(text)).toThrow(
        new RangeError('a keypair file is a JSON array of 64 numbers from 0 to 255'),
      );
    }
  });

  it('does not show its secret to whoever prints it', () => {
    const keypair = Keypair.fromSeed(new Uint8Array(32).fill(0xab));
    expect(JSON.stringify(keypair)).toBe(JSON.stringify({ address: keypair.address }));
  });
});

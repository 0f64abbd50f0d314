import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SeenKeys } from './slot-record.ts';

const bytesOf = (number: number, length: number): Uint8Array =>
  Buffer.concat([
    createHash('sha256').update(`${number}`).digest(),
    createHash('sha512').update(`${number}`).digest(),
  ]).subarray(0, length);

describe('SeenKeys', () => {
  it('distinguishes keys that differ in one bit of either part', () => {
    const seen = new SeenKeys(100_000);
    const [address, signature] = [bytesOf(1, 32), bytesOf(2, 64)];
    expect(seen.raise(address, signature, 1)).toBe(true);
    for (let bit = 0; bit < 96 * 8; bit++) {
      const both = Buffer.concat([address, signature]);
      both[bit >> 3]! ^= 1 << (bit & 7);
      expect(seen.raise(both.subarray(0, 32), both.subarray(32), 1)).toBe(true);
    }
    expect(seen.raise(address, signature, 1)).toBe(false);
    expect(seen.raise(address, null, 1)).toBe(true);
  });

  it('distinguishes addresses crafted so that their words cancel out', () => {
    // Inverse of value ^ (value >>> 15), applied to the highest bit.
    const turned = (word: number): number => {
      const value = (word ^ (word >>> 15) ^ 0x8000_0000) >>> 0;
      return (value ^ (value >>> 15) ^ (value >>> 30)) >>> 0;
    };
    let newCount = 0;
    for (let run = 0; run < 200; run++) {
      const seen = new SeenKeys(100_000);
      const [root, signature] = [bytesOf(run, 32), bytesOf(run + 1, 64)];
      // An even number of changed words each.
      for (let words = 0; words < 256; words++) {
        const address = Buffer.from(root);
        const bits = Array.from({ length: 8 }, (_, at) => at).filter((at) => (words >> at) & 1);
        if (bits.length % 2 === 1) continue;
        for (const at of bits) address.writeUInt32LE(turned(address.readUInt32LE(at * 4)), at * 4);
        if (seen.raise(address, signature, 1)) newCount++;
      }
    }
    expect(newCount).toBe(200 * 128);
  });

  it('counts', () => {
    const seen = new SeenKeys(10);
    const key = bytesOf(1, 32);
    expect([1, 1, 2, 1, 2, 4, 3].map((to) => seen.raise(key, null, to))).toEqual([
      true,
      false,
      true,
      false,
      false,
      true,
      false,
    ]);
  });

  it('treats keys beyond the limit as new each time', () => {
    const seen = new SeenKeys(3);
    const taken = [1, 2, 3, 4, 5, 4, 3].map((number) => seen.raise(bytesOf(number, 64), null, 1));
    expect(taken).toEqual([true, true, true, true, true, true, false]);
    expect(seen.raise(bytesOf(1, 64), null, 2)).toBe(true);
    expect(seen.size).toBe(3);
  });
});

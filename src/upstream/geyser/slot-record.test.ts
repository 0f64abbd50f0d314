import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { accountUpdate } from '../../../test/streams/random-updates.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';
import { slot } from '../../solana/units.ts';
import { SeenKeys, SlotRecord } from './slot-record.ts';

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
      // Each address has an even number of changed words.
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

describe('account writes of streams with different requests', () => {
  const write = (number: number): RawAccount => ({ ...accountUpdate(), signature: bytesOf(number, 64) });
  const older = write(1);
  const newer = write(2);
  const narrow = { isAuthoritative: true };
  const wide = { isAuthoritative: true };
  const wider = { isAuthoritative: true };

  function orderOf(first = narrow) {
    const record = new SlotRecord(slot(7n), 100);
    record.noteRequest('narrow');
    record.noteRequest('wide');
    const order = record.writeOrder!;
    expect(order.shouldEmit(first, newer, true)).toBe(true);
    return order;
  }

  it('holds back an older write until its stream sent the newest, then drops it', () => {
    const order = orderOf();
    expect(order.shouldEmit(wide, older, true)).toBe(false);
    expect(order.bufferedOf(wide)).toEqual([older]);
    expect(order.shouldEmit(wide, newer, false)).toBe(false);
    expect(order.bufferedOf(wide)).toEqual([]);
  });

  it('keeps writes that another stream holds back', () => {
    const order = orderOf();
    const third = write(3);
    expect(order.shouldEmit(wide, older, true)).toBe(false);
    expect(order.shouldEmit(wider, third, true)).toBe(false);
    order.shouldEmit(wide, newer, false);
    expect([order.bufferedOf(wide), order.bufferedOf(wider)]).toEqual([[], [third]]);
  });

  it('emits the newer write again after an older one if no stream decides', () => {
    const order = orderOf({ isAuthoritative: false });
    expect(order.shouldEmit(wide, older, true)).toBe(true);
    expect(order.shouldEmit(wide, newer, false)).toBe(true);
  });
});

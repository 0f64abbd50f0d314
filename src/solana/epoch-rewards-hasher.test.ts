import { describe, expect, it } from 'vitest';
import { addressFromBytes } from './address.ts';
import { blockhashFromBytes } from './blockhash.ts';
import { rewardPartition, sipHash13 } from './epoch-rewards-hasher.ts';

const KEY: [bigint, bigint] = [0x0706050403020100n, 0x0f0e0d0c0b0a0908n];
const upTo = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i);

describe('SipHash-1-3', () => {
  // Vectors of Rust's standard library.
  it.each([
    [0, 0xabac0158050fc4dcn],
    [1, 0xc9f49bf37d57ca93n],
  ])('matches the vector of %i bytes', (length, hash) => {
    expect(sipHash13(upTo(length), KEY)).toBe(hash);
  });
});

describe('reward partition', () => {
  const seed = blockhashFromBytes(upTo(32));

  it('is 0 with a single partition', () => {
    expect(rewardPartition(addressFromBytes(upTo(32)), seed, 1n)).toBe(0);
  });
});

import { describe, expect, it } from 'vitest';
import { HalfSipHash } from './half-sip-hash.ts';

const counting = (length: number, from = 0): Uint8Array => Uint8Array.from({ length }, (_, at) => from + at);

function hexOf({ low, high }: HalfSipHash): string {
  const bytes = Buffer.alloc(8);
  bytes.writeInt32LE(low, 0);
  bytes.writeInt32LE(high, 4);
  return bytes.toString('hex');
}

describe('HalfSipHash', () => {
  // Source: github.com/veorq/SipHash, vectors.h, `vectors_hsip64`.
  it.each([
    [0, '218d1f59b9b83cc8'],
    [4, 'd5e78a175be52ea1'],
  ])('matches the published vector of %d bytes', (length, expected) => {
    const hash = new HalfSipHash(counting(8));
    hash.of(counting(length), null);
    expect(hexOf(hash)).toBe(expected);
  });

  it('takes two parts as one input', () => {
    const hash = new HalfSipHash(counting(8));
    hash.of(counting(96), null);
    const whole = hexOf(hash);
    hash.of(counting(32), counting(64, 32));
    expect(hexOf(hash)).toBe(whole);
  });
});

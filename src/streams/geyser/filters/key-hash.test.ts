import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { hashAddress } from './key-hash.ts';

it('the hash of an address depends on each of its bits, and on no byte around it', () => {
  const bytes = randomBytes(34);
  const hash = hashAddress(bytes, 1);
  const isChanged = (bit: number): boolean => {
    const other = Buffer.from(bytes);
    other[bit >> 3]! ^= 1 << (bit & 7);
    return hashAddress(other, 1) !== hash;
  };
  const changing = Array.from({ length: 34 * 8 }, (_, bit) => bit).filter(isChanged);
  expect(changing).toEqual(Array.from({ length: 32 * 8 }, (_, bit) => bit + 8));
});

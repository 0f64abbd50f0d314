import { describe, expect, it } from 'vitest';
import { slot } from '../../solana/units.ts';
import { referenceSlot } from './reference-slot.ts';

const reference = (...slots: number[]): bigint | null => referenceSlot(slots.map(slot), 100);

describe('referenceSlot', () => {
  it('is the newest of one or two, which cannot outvote each other', () => {
    expect(reference(7)).toBe(7n);
    expect(reference(9_000, 7)).toBe(9_000n);
  });

  it('is the newest of three if the second is near', () => {
    expect(reference(100, 200, 50)).toBe(200n);
  });

  it('is the second newest if one of three is too far ahead', () => {
    expect(reference(100, 201, 50)).toBe(100n);
    expect(reference(18_000, 100, 101)).toBe(101n);
  });
});

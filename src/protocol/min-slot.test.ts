import { describe, expect, it } from 'vitest';
import { slot } from '../solana/units.ts';
import { MinSlot } from './min-slot.ts';

describe('MinSlot', () => {
  it('rises with observed slots and never falls', () => {
    const floor = new MinSlot();
    expect(floor.at('confirmed')).toBe(0n);
    floor.raise('confirmed', slot(9n));
    floor.raise('confirmed', slot(7n));
    expect(floor.at('confirmed')).toBe(9n);
  });

  it('raises weaker commitments only', () => {
    const floor = new MinSlot();
    floor.raise('processed', slot(105n));
    floor.raise('finalized', slot(73n));
    expect([floor.at('processed'), floor.at('confirmed'), floor.at('finalized')]).toEqual([105n, 73n, 73n]);
  });
});

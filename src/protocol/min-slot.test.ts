import { describe, expect, it } from 'vitest';
import { slot } from '../solana/units.ts';
import { MinSlot } from './min-slot.ts';

describe('the floor of a reader', () => {
  it('rises with what was told, and never falls', () => {
    const floor = new MinSlot();
    expect(floor.at('confirmed')).toBe(0n);
    floor.raise('confirmed', slot(9n));
    floor.raise('confirmed', slot(7n));
    expect(floor.at('confirmed')).toBe(9n);
  });

  it('leaves what is settled more as old as it is, and holds what is settled less to the same', () => {
    const floor = new MinSlot();
    floor.raise('processed', slot(105n));
    floor.raise('finalized', slot(73n));
    expect([floor.at('processed'), floor.at('confirmed'), floor.at('finalized')]).toEqual([105n, 73n, 73n]);
  });
});

import { describe, expect, it } from 'vitest';
import { slot } from '../solana/units.ts';
import { MinSlot } from './min-slot.ts';

describe('MinSlot', () => {
  it('rises with observed slots and never falls', () => {
    const minSlot = new MinSlot();
    expect(minSlot.at('confirmed')).toBe(0n);
    minSlot.raise('confirmed', slot(9n));
    minSlot.raise('confirmed', slot(7n));
    expect(minSlot.at('confirmed')).toBe(9n);
  });

  it('raises weaker commitments only', () => {
    const minSlot = new MinSlot();
    minSlot.raise('processed', slot(105n));
    minSlot.raise('finalized', slot(73n));
    expect(minSlot.at('processed')).toBe(105n);
    expect(minSlot.at('confirmed')).toBe(73n);
    expect(minSlot.at('finalized')).toBe(73n);
  });
});

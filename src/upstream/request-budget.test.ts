import { describe, expect, it } from 'vitest';
import { RequestBudget } from './request-budget.ts';

describe('RequestBudget', () => {
  it('allows a burst, then the refill rate', () => {
    const budget = new RequestBudget(10, 3);
    for (let i = 0; i < 3; i++) {
      expect(budget.has(1_000)).toBe(true);
      budget.spend(1_000);
    }
    expect(budget.has(1_000)).toBe(false);
    expect(budget.has(1_099)).toBe(false);
    expect(budget.has(1_100)).toBe(true);
    expect(budget.remaining(9_000)).toBe(3);
  });

  it('is reserved in order by waiting calls', () => {
    const budget = new RequestBudget(10, 1);
    budget.spend(1_000);
    const waits = [0, 1, 2].map(() => {
      const ms = budget.waitMs(1_000);
      budget.spend(1_000);
      return ms;
    });
    expect(waits).toEqual([100, 200, 300]);
    budget.refund();
    expect(budget.waitMs(1_000)).toBe(300);
  });
});

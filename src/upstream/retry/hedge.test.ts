import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HedgeBudget } from './hedge-budget.ts';
import { type HedgeCandidate, HedgeTimer } from './hedge-timer.ts';

describe('the budget of hedges', () => {
  it('is a share of the calls, after a burst', () => {
    const budget = new HedgeBudget({ hedgeRatio: 0.05, hedgeBurst: 10 });
    const made = (calls: number): number => {
      let hedges = 0;
      for (let i = 0; i < calls; i++) {
        budget.earn();
        if (budget.spend()) hedges++;
      }
      return hedges;
    };
    expect(made(200)).toBeGreaterThanOrEqual(18);
    expect(made(200)).toBeLessThanOrEqual(11);
  });

  it('is none where hedging is turned off', () => {
    const budget = new HedgeBudget({ hedgeRatio: 0, hedgeBurst: 10 });
    budget.earn();
    expect(budget.spend()).toBe(false);
  });
});

describe('the rounds over calls under way', () => {
  it('look at all that are there, whoever leaves meanwhile', async () => {
    const rounds = new HedgeTimer();
    const looked: string[] = [];
    const call = (name: string): HedgeCandidate => ({
      previousCandidate: null,
      nextCandidate: null,
      checkHedge() {
        looked.push(name);
        rounds.remove(this);
      },
    });
    const [a, b, c] = [call('a'), call('b'), call('c')];
    for (const one of [a, b, c]) rounds.add(one);
    rounds.remove(b);
    rounds.remove(b);
    while (looked.length < 2) await sleep(5);
    expect(looked).toEqual(['c', 'a']);
    expect(
      [a, b, c].every(
        ({ previousCandidate, nextCandidate }) => previousCandidate === null && nextCandidate === null,
      ),
    ).toBe(true);
    rounds.stop();
  });
});

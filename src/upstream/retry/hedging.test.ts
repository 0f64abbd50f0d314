import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { methods } from '../../protocol/methods.ts';
import { HedgeBudget, type HedgeCandidate, HedgeTimer, MethodLatencies } from './hedging.ts';

describe('HedgeBudget', () => {
  it('allows a share of the calls after a burst', () => {
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
});

describe('HedgeTimer', () => {
  it('checks all calls, even if some are removed during the check', async () => {
    const rounds = new HedgeTimer();
    const checked: string[] = [];
    const call = (name: string): HedgeCandidate => ({
      previousCandidate: null,
      nextCandidate: null,
      checkHedge() {
        checked.push(name);
        rounds.remove(this);
      },
    });
    const [a, b, c] = [call('a'), call('b'), call('c')];
    for (const one of [a, b, c]) rounds.add(one);
    rounds.remove(b);
    rounds.remove(b);
    while (checked.length < 2) await sleep(5);
    rounds.add(call('d'));
    while (!checked.includes('d')) await sleep(5);
    expect(checked).toEqual(['c', 'a', 'd']);
    expect(
      [a, b, c].every(
        ({ previousCandidate, nextCandidate }) => previousCandidate === null && nextCandidate === null,
      ),
    ).toBe(true);
    rounds.stop();
  });
});

const { getBalance, getBlock } = methods;

describe('MethodLatencies', () => {
  it('uses the maximum delay with few samples', () => {
    const latencies = new MethodLatencies({ hedgeQuantile: 0.95, hedgeMinMs: 100, hedgeMaxMs: 2_000 });
    for (let i = 0; i < 10; i++) latencies.record(getBalance, 5);
    expect(latencies.hedgeAfterMs(getBalance)).toBe(2_000);
    expect(latencies.hedgeAfterMs(getBlock)).toBe(2_000);
  });

  it('uses the latency quantile, at least the minimum delay', () => {
    const latencies = new MethodLatencies({ hedgeQuantile: 0.95, hedgeMinMs: 100, hedgeMaxMs: 2_000 });
    for (let i = 0; i < 100; i++) {
      latencies.record(getBalance, 5);
      latencies.record(getBlock, i % 10 > 0 ? 50 : 400);
    }
    expect(latencies.hedgeAfterMs(getBalance)).toBe(100);
    expect(latencies.hedgeAfterMs(getBlock)).toBeGreaterThan(390);
    expect(latencies.hedgeAfterMs(getBlock)).toBeLessThan(520);
  });
});

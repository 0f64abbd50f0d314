import { beforeEach, describe, expect, it } from 'vitest';
import { defaultPlanLimits } from '../../gateway/auth/key-record.ts';
import { QuotaLedger } from '../../gateway/limits/quota.ts';
import { RateLimiter } from '../../gateway/limits/rate-limiter.ts';
import { InMemoryLimitStore } from './limit-store.ts';
import { type LimitSync, quotaSync, rateSync } from './shared-limits.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const ROUND = 33;
const MOST = 50;

describe('credits of many accounts', () => {
  let ledger: QuotaLedger;
  let limitSync: LimitSync;

  const spend = (customerId: string): void =>
    ledger.spend(
      { customerId, planId: 'p', limits: { ...defaultPlanLimits, monthlyCredits: 1_000 } },
      1,
      NOON,
    );
  function report(isRefresh = false, isReset = false): string[] {
    const command = limitSync.nextCommand({ nowMs: 0, isRefresh, isReset });
    const spent = command?.values.slice(2) ?? [];
    return (command?.keys ?? []).map((key, at) => `${key.split(':')[2]} ${spent[at]}`);
  }

  beforeEach(() => {
    ledger = new QuotaLedger();
    limitSync = quotaSync(ledger, 'q:', { gateway: 'g', namesMax: MOST });
    for (let i = 0; i < 20 * MOST; i++) spend(`c${i}`);
  });

  it('are reported with the next sync when they change, however many others wait', () => {
    report(true, true);
    for (let at = 1; at < 3 * ROUND; at++) {
      spend('fresh');
      const reported = report(at % ROUND === 0);
      // Earlier changes go first and fill that many syncs.
      if (at >= 20) expect(reported).toContain(`fresh ${at}`);
    }
  });

  it('are reported once per round while idle, a few at a time', () => {
    for (let at = 0; at < 150; at++) report(at === 0, at === 0);
    expect(report()).toEqual([]);
    const reported: string[] = [];
    for (let at = 0; at < 20 * 10; at++) {
      const now = report(at % ROUND === 0);
      expect(now.length).toBeLessThanOrEqual(MOST / 10);
      reported.push(...now);
    }
    expect(new Set(reported).size).toBe(20 * MOST);
    expect(reported).toHaveLength(20 * MOST);
  });
});

it.each([
  [4, 90, 100],
  [3, 50, 100],
  [2, 60, 100],
  [2, 90, 3_000],
  [2, 60, 2_500],
])('100 per second hold for %i gateways with %i calls each and a sync every %i ms', (...given) => {
  const [count, perSecond, intervalMs] = given;
  const clock = { now: 0 };
  const store = new InMemoryLimitStore({ now: () => clock.now });
  const plan = { rpcPerSecond: 100, rpcBurst: 200 };
  const gateways = Array.from({ length: count }, (_, index) => {
    const rates = new RateLimiter({ isShared: true });
    const parts = { gateway: `g${index}`, namesMax: 9, intervalMs, gateways: () => count };
    return { rates, limitSync: rateSync(rates, 'r:', parts), syncsAt: (index * intervalMs) / count };
  });
  const callsIn = (ms: number): number => Math.floor((ms * perSecond) / 1_000);
  let taken = 0;
  for (clock.now = 1; clock.now <= 60_000; clock.now++) {
    for (const { rates, limitSync, syncsAt } of gateways) {
      for (let i = callsIn(clock.now - 1); i < callsIn(clock.now); i++)
        if (rates.consume('f', plan, clock.now)?.allowed) taken++;
      if (clock.now % intervalMs !== Math.floor(syncsAt)) continue;
      const command = limitSync.nextCommand({ nowMs: clock.now, isRefresh: false, isReset: false });
      const [answer] = store.execute(command === null ? [] : [command]);
      command?.onReply(answer as unknown[], { nowMs: clock.now, serverMs: clock.now });
    }
  }
  expect(taken / 60).toBeGreaterThan(95);
  // The burst, plus the overshoot of each gateway before a sync.
  expect(taken / 60).toBeLessThan(100 + ((200 + intervalMs / 10) * (count + 1)) / 60);
});

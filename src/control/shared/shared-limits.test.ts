import { expect, it } from 'vitest';
import { RateLimiter } from '../../gateway/limits/rate-limiter.ts';
import { InMemoryLimitStore } from './limit-store.ts';
import { rateSync } from './shared-limits.ts';

it.each([
  [4, 90, 100],
  [3, 50, 100],
  [2, 60, 100],
  [2, 90, 3_000],
  [2, 60, 2_500],
])('%i gateways with %i calls each and a sync every %i ms admit 100 per second', (...given) => {
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
  let admitted = 0;
  for (clock.now = 1; clock.now <= 60_000; clock.now++) {
    for (const { rates, limitSync, syncsAt } of gateways) {
      for (let i = callsIn(clock.now - 1); i < callsIn(clock.now); i++)
        if (rates.consume('f', plan, clock.now)?.allowed) admitted++;
      if (clock.now % intervalMs !== Math.floor(syncsAt)) continue;
      const command = limitSync({ nowMs: clock.now, isRefresh: false, isReset: false });
      const [answer] = store.execute(command === null ? [] : [command]);
      command?.onReply(answer as unknown[], { nowMs: clock.now, serverMs: clock.now });
    }
  }
  expect(admitted / 60).toBeGreaterThan(95);
  // The burst, plus the overshoot of each gateway before a sync.
  expect(admitted / 60).toBeLessThan(100 + ((200 + intervalMs / 10) * (count + 1)) / 60);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimiter } from './rate-limiter.ts';

const limits = { rpcPerSecond: 10, rpcBurst: 5 };

describe('rate limiter', () => {
  it('admits a burst, then the sustained rate', () => {
    const limiter = new RateLimiter();
    const take = (nowMs: number) => limiter.consume('a', limits, nowMs)?.allowed;
    expect(Array.from({ length: 6 }, () => take(0))).toEqual([true, true, true, true, true, false]);
    expect([take(99), take(100), take(100), take(200)]).toEqual([false, true, false, true]);
  });

  it('reports the reset as the retry time', () => {
    const slow = { rpcPerSecond: 0.1, rpcBurst: 1 };
    const limiter = new RateLimiter();
    expect(limiter.consume('a', slow, 0)?.allowed).toBe(true);
    const refused = limiter.consume('a', slow, 1_000);
    expect(refused).toMatchObject({
      allowed: false,
      retryAfter: 9,
      state: { remaining: 0, resetSeconds: 9 },
    });
    expect(limiter.consume('a', slow, 1_000 + 9_000)?.allowed).toBe(true);
  });

  it('reports a window with at most the rate of the plan', () => {
    const windowOf = (rpcPerSecond: number, rpcBurst: number) => {
      const { limit, windowSeconds } = new RateLimiter().consume('a', { rpcPerSecond, rpcBurst }, 0)!.state;
      return [limit, windowSeconds];
    };
    expect([windowOf(2, 3), windowOf(2, 4), windowOf(2, 5)]).toEqual([
      [3, 2],
      [4, 2],
      [5, 3],
    ]);
  });

  it('does not count without a limit', () => {
    expect(new RateLimiter().consume('a', { rpcPerSecond: 0, rpcBurst: 0 }, 0)).toBeNull();
  });

  it('refills nothing when the clock is set back', () => {
    const limiter = new RateLimiter();
    for (let i = 0; i < 5; i++) limiter.consume('a', limits, 1_000);
    expect(limiter.consume('a', limits, 0)?.allowed).toBe(false);
    expect(limiter.consume('a', limits, 1_050)?.allowed).toBe(false);
  });

  it('never admits more than burst and rate allow', () => {
    const steps = fc.array(fc.nat(300), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        (waits, rpcPerSecond, rpcBurst) => {
          const limiter = new RateLimiter();
          let nowMs = 0;
          let allowed = 0;
          for (const waitMs of waits) {
            nowMs += waitMs;
            if (limiter.consume('a', { rpcPerSecond, rpcBurst }, nowMs)?.allowed === true) allowed += 1;
          }
          expect(allowed).toBeLessThanOrEqual(rpcBurst + (nowMs * rpcPerSecond) / 1000 + 1e-6);
        },
      ),
    );
  });
});

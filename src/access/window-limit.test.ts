import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WindowLimit } from './window-limit.ts';

const options = { requestsMax: 600, windowMs: 60_000, namesMax: 1_000 };

describe('a limit over a sliding window', () => {
  it('lets 600 requests through at once and refuses the next one', () => {
    const limit = new WindowLimit(options);
    const decisions = Array.from({ length: 601 }, () => limit.take('a', 0));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(600);
    expect(decisions[0]?.state).toEqual({ limit: 600, remaining: 599, windowSeconds: 60, resetSeconds: 60 });
    expect(decisions[600]).toMatchObject({ allowed: false, state: { remaining: 0 } });
  });

  it('counts each name by itself', () => {
    const limit = new WindowLimit({ ...options, requestsMax: 1 });
    expect(limit.take('a', 0).allowed).toBe(true);
    expect(limit.take('b', 0).allowed).toBe(true);
    expect(limit.take('a', 0).allowed).toBe(false);
  });

  it('has room when Retry-After is over, and not a second sooner', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(20_000), { minLength: 1, maxLength: 400 }),
        fc.integer({ min: 1, max: 50 }),
        (steps, requestsMax) => {
          const limit = new WindowLimit({ ...options, requestsMax });
          const twin = new WindowLimit({ ...options, requestsMax });
          let nowMs = 0;
          for (const step of steps) {
            nowMs += step;
            const { allowed, retryAfter } = limit.take('a', nowMs);
            twin.take('a', nowMs);
            if (allowed) continue;
            expect(retryAfter).toBeGreaterThanOrEqual(1);
            if (retryAfter > 1)
              expect(twin.take('a', nowMs + (retryAfter - 1) * 1_000 - 1).allowed).toBe(false);
            expect(limit.take('a', nowMs + retryAfter * 1_000).allowed).toBe(true);
            return;
          }
        },
      ),
    );
  });

  it('never lets a burst at the turn of a window be as large as two windows', () => {
    const limit = new WindowLimit(options);
    const taken = (nowMs: number): number =>
      Array.from({ length: 600 }, () => limit.take('a', nowMs)).filter(({ allowed }) => allowed).length;
    expect(taken(59_999)).toBe(600);
    expect(taken(60_001)).toBe(0);
    expect(taken(90_000)).toBe(300);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingWindowLimiter } from './sliding-window-limiter.ts';

const options = { requestsMax: 600, windowMs: 60_000, namesMax: 1_000 };

describe('sliding-window limiter', () => {
  it('accepts 600 requests at once and rejects the next one', () => {
    const limit = new SlidingWindowLimiter(options);
    const decisions = Array.from({ length: 601 }, () => limit.consume('a', 0));
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(600);
    expect(decisions[0]?.state).toEqual({ limit: 600, remaining: 599, windowSeconds: 60, resetSeconds: 60 });
    expect(decisions[600]).toMatchObject({ allowed: false, state: { remaining: 0 } });
  });

  it('accepts up to the limit per minute, and rejects more than the limit in 59 seconds', () => {
    const steps = fc.array(fc.oneof(fc.nat(50), fc.nat(3_000), fc.nat(70_000)), {
      minLength: 50,
      maxLength: 400,
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 30 }), (waits, requestsMax) => {
        const limit = new SlidingWindowLimiter({ ...options, requestsMax });
        const passed: number[] = [];
        let nowMs = 0;
        for (const wait of waits) {
          nowMs += wait;
          const within = (ms: number): number => passed.filter((at) => at > nowMs - ms).length;
          const { allowed, state } = limit.consume('a', nowMs);
          if (within(60_000) < requestsMax) expect(allowed).toBe(true);
          if (within(59_000) >= requestsMax) expect(allowed).toBe(false);
          if (allowed) passed.push(nowMs);
          expect(state.remaining).toBeGreaterThanOrEqual(requestsMax - within(60_000));
        }
      }),
    );
  });

  it('reports when a unit is free again, and when all are', () => {
    const limit = new SlidingWindowLimiter({ ...options, requestsMax: 2 });
    expect(limit.consume('a', 500).state).toMatchObject({ remaining: 1, resetSeconds: 60 });
    expect(limit.consume('a', 30_000).state).toMatchObject({ remaining: 0, resetSeconds: 30 });
    expect(limit.consume('a', 40_000)).toMatchObject({ allowed: false, retryAfter: 20 });
    expect(limit.consume('a', 60_000).state).toMatchObject({ remaining: 0, resetSeconds: 30 });
    expect(limit.consume('a', 500_000).state).toMatchObject({ remaining: 1, resetSeconds: 60 });
  });
});

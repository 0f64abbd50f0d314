import { describe, expect, it } from 'vitest';
import { Failure } from '../../protocol/errors.ts';
import { AttemptLimiter } from './attempt-limiter.ts';

const limits = {
  freeAttempts: 3,
  firstPauseMs: 1_000,
  pauseMaxMs: 60_000,
  rememberMs: 3_600_000,
  rememberedMax: 1_000,
};

function limited(more: Partial<typeof limits> = {}) {
  const clock = { now: 1_800_000_000_000 };
  const limiter = new AttemptLimiter({ ...limits, ...more }, () => clock.now);
  const attempt = (name: string, end: 'succeed' | 'fail' | 'discard'): number | null => {
    try {
      limiter.start(name)[end]();
      return null;
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.code !== 'TOO_MANY_TRIES') throw failure;
      return failure.retryAfter ?? -1;
    }
  };
  return { clock, limiter, attempt };
}

describe('attempt limiter', () => {
  it('doubles the pause with each failure after the free attempts, up to the maximum', () => {
    const { clock, attempt } = limited();
    for (let i = 0; i < 3; i++) expect(attempt('a', 'fail')).toBeNull();
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      const pause = attempt('a', 'succeed')!;
      pauses.push(pause);
      clock.now += pause * 1_000 - 1;
      expect(attempt('a', 'succeed')).toBe(1);
      clock.now += 1;
      expect(attempt('a', 'fail')).toBeNull();
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('resets after a success and after rememberMs', () => {
    const { clock, attempt } = limited();
    for (let i = 0; i < 2; i++) attempt('a', 'fail');
    attempt('a', 'succeed');
    for (let i = 0; i < 3; i++) expect(attempt('a', 'fail')).toBeNull();
    expect(attempt('a', 'fail')).toBe(1);
    clock.now += limits.rememberMs;
    for (let i = 0; i < 3; i++) expect(attempt('a', 'fail')).toBeNull();
  });

  it('counts names separately and ignores discarded attempts', () => {
    const { attempt } = limited();
    for (let i = 0; i < 3; i++) attempt('a', 'fail');
    for (let i = 0; i < 9; i++) expect(attempt('b', 'discard')).toBeNull();
    expect(attempt('b', 'succeed')).toBeNull();
    expect(attempt('a', 'succeed')).toBe(1);
  });

  it('limits concurrent attempts to the number of free attempts', () => {
    const { limiter, attempt } = limited();
    const open = [1, 2, 3].map(() => limiter.start('a'));
    expect(attempt('a', 'succeed')).toBe(1);
    open[0]!.fail();
    open[0]!.succeed();
    // One attempt has failed and two are pending.
    expect(attempt('a', 'succeed')).toBe(1);
    open[1]!.fail();
    open[2]!.fail();
    expect(attempt('a', 'succeed')).toBe(1);
  });

  it('counts at most rememberedMax names', () => {
    const { attempt } = limited({ rememberedMax: 10 });
    for (let i = 0; i < 3; i++) attempt('first', 'fail');
    expect(attempt('first', 'succeed')).toBe(1);
    for (let i = 0; i < 10; i++) attempt(`n${i}`, 'fail');
    expect(attempt('first', 'succeed')).toBeNull();
  });
});

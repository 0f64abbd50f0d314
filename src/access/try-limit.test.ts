import { describe, expect, it } from 'vitest';
import { Failure } from '../protocol/errors.ts';
import { TryLimit } from './try-limit.ts';

const limits = {
  freeTries: 3,
  firstPauseMs: 1_000,
  pauseMaxMs: 60_000,
  rememberMs: 3_600_000,
  rememberedMax: 1_000,
};

function limited(more: Partial<typeof limits> = {}) {
  const clock = { now: 1_800_000_000_000 };
  const tries = new TryLimit({ ...limits, ...more }, () => clock.now);
  /** One try that ends so, or the seconds that it is to wait. */
  const attempt = (name: string, end: 'right' | 'wrong' | 'void'): number | null => {
    try {
      tries.begin(name)[end]();
      return null;
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.code !== 'TOO_MANY_TRIES') throw failure;
      return failure.retryAfter ?? -1;
    }
  };
  return { clock, tries, attempt };
}

describe('tries', () => {
  it('are free for a few wrong ones; then each one more doubles the pause, up to the longest', () => {
    const { clock, attempt } = limited();
    for (let i = 0; i < 3; i++) expect(attempt('a', 'wrong')).toBeNull();
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      const pause = attempt('a', 'right')!;
      pauses.push(pause);
      clock.now += pause * 1_000 - 1;
      expect(attempt('a', 'right')).toBe(1);
      clock.now += 1;
      expect(attempt('a', 'wrong')).toBeNull();
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('begin anew after a right one, and after a long time', () => {
    const { clock, attempt } = limited();
    for (let i = 0; i < 2; i++) attempt('a', 'wrong');
    attempt('a', 'right');
    for (let i = 0; i < 3; i++) expect(attempt('a', 'wrong')).toBeNull();
    expect(attempt('a', 'wrong')).toBe(1);
    clock.now += limits.rememberMs;
    for (let i = 0; i < 3; i++) expect(attempt('a', 'wrong')).toBeNull();
  });

  it('of one name say nothing about another, and one that came to nothing counts nowhere', () => {
    const { attempt } = limited();
    for (let i = 0; i < 3; i++) attempt('a', 'wrong');
    for (let i = 0; i < 9; i++) expect(attempt('b', 'void')).toBeNull();
    expect(attempt('b', 'right')).toBeNull();
    expect(attempt('a', 'right')).toBe(1);
  });

  it('at once are no more than those that are free, so that waiting cannot be got around', () => {
    const { tries, attempt } = limited();
    const open = [1, 2, 3].map(() => tries.begin('a'));
    expect(attempt('a', 'right')).toBe(1);
    open[0]!.wrong();
    open[0]!.right();
    // One is wrong and two are open.
    expect(attempt('a', 'right')).toBe(1);
    open[1]!.wrong();
    open[2]!.wrong();
    expect(attempt('a', 'right')).toBe(1);
  });

  it('are remembered for so many names', () => {
    const { attempt } = limited({ rememberedMax: 10 });
    for (let i = 0; i < 3; i++) attempt('first', 'wrong');
    expect(attempt('first', 'right')).toBe(1);
    for (let i = 0; i < 10; i++) attempt(`n${i}`, 'wrong');
    expect(attempt('first', 'right')).toBeNull();
  });
});

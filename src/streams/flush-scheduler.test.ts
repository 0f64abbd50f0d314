import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FlushScheduler } from './flush-scheduler.ts';

function counting() {
  const counted = { flushes: 0, flush: () => void counted.flushes++ };
  return counted;
}

describe('a flush', () => {
  it('comes at the end of the turn in which it was asked for, once for all that asked', async () => {
    const flushes = new FlushScheduler();
    const [one, other] = [counting(), counting()];
    flushes.schedule(one);
    flushes.schedule(other);
    expect([one.flushes, other.flushes]).toEqual([0, 0]);
    await turn();
    expect([one.flushes, other.flushes]).toEqual([1, 1]);
  });

  it('waits, where it may, when it is asked for soon after the last', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    // Long after the last flush, which there never was.
    vi.advanceTimersByTime(1_000);
    const flushes = new FlushScheduler(50);
    const one = counting();
    flushes.schedule(one);
    await turn();
    expect(one.flushes).toBe(1);
    flushes.schedule(one);
    await turn();
    vi.advanceTimersByTime(49);
    expect(one.flushes).toBe(1);
    vi.advanceTimersByTime(1);
    expect(one.flushes).toBe(2);
  });
});

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startSlotTicker } from './slot-ticker.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('keeps its average pace despite late ticks', () => {
  let ticks = 0;
  const start = performance.now();
  const stop = startSlotTicker(400, () => {
    ticks++;
    // Each tick takes 300 ms of the next slot.
    vi.advanceTimersByTime(300);
  });
  vi.advanceTimersByTime(40_000);
  stop();
  const slots = Math.floor((performance.now() - start) / 400);
  expect(slots).toBeGreaterThan(90);
  expect(ticks).toBe(slots);
});

it('does not catch up after a long sleep', () => {
  const times: number[] = [];
  let sleepMs = 3_600_000;
  const stop = startSlotTicker(400, () => {
    times.push(performance.now());
    const wokenAt = performance.now() + sleepMs;
    sleepMs = 0;
    while (performance.now() < wokenAt) vi.advanceTimersByTime(wokenAt - performance.now());
  });
  vi.advanceTimersByTime(4_000);
  stop();
  expect(times.length).toBeLessThan(25);
});

it('stops from within a tick', () => {
  let ticks = 0;
  const stop = startSlotTicker(10, () => {
    if (++ticks === 3) stop();
  });
  vi.advanceTimersByTime(1000);
  expect(ticks).toBe(3);
  expect(vi.getTimerCount()).toBe(0);
});

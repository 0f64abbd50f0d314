import { afterEach, expect, it, vi } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { watchLosses } from './loss-watch.ts';

afterEach(() => vi.useRealTimers());

it('logs growing losses once a minute, and once at the end', () => {
  vi.useFakeTimers();
  const lines: { lost: number; total: number; msg: string }[] = [];
  const log = createLogger('info', (line) => void lines.push(JSON.parse(line)));
  let lost = 0;
  const stop = watchLosses([{ message: 'calls were not counted', read: () => lost }], log);
  const logged = () => lines.splice(0).map(({ lost, total, msg }) => [lost, total, msg]);
  vi.advanceTimersByTime(60_000);
  expect(logged()).toEqual([]);
  lost = 3;
  vi.advanceTimersByTime(30_000);
  lost = 5;
  vi.advanceTimersByTime(30_000);
  expect(logged()).toEqual([[5, 5, 'calls were not counted']]);
  vi.advanceTimersByTime(600_000);
  expect(logged()).toEqual([]);
  lost = 6;
  stop();
  expect(logged()).toEqual([[1, 6, 'calls were not counted']]);
  expect(vi.getTimerCount()).toBe(0);
});

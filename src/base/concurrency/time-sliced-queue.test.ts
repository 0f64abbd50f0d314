import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TimeSlicedQueue } from './time-sliced-queue.ts';

const busy = (ms: number): void => {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
};

describe('what takes long to read', () => {
  it('is read in its order, a little in each turn of the event loop', async () => {
    const turns = new TimeSlicedQueue();
    const seen: string[] = [];
    const done = new Promise<void>((resolve) => {
      for (const name of ['a', 'b', 'c']) {
        turns.enqueue(() => {
          busy(6);
          seen.push(name);
          if (name === 'c') resolve();
        });
      }
    });
    let turn = 0;
    const next = (): void => {
      seen.push(`turn ${++turn}`);
      if (turn < 3) setImmediate(next);
    };
    setImmediate(next);
    await done;
    expect(seen.filter((each) => each.length === 1)).toEqual(['a', 'b', 'c']);
    expect(seen.indexOf('turn 1')).toBe(1);
    expect(seen.indexOf('turn 2')).toBeLessThan(seen.indexOf('c'));
  });

  it('is read at once when nothing else is there, and as much as a turn has time for', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => clock.mockRestore());
    const turns = new TimeSlicedQueue();
    let read = 0;
    for (let i = 0; i < 100; i++) turns.enqueue(() => void read++);
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBe(100);
  });
});

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { mapTimeSliced, TimeSlicedQueue } from './time-sliced.ts';

/** Blocks the event loop for some milliseconds. */
function workFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('returns results in the order of the items', async () => {
  expect(await mapTimeSliced([1, 2, 3], (item) => item * 2)).toEqual([2, 4, 6]);
  expect(await mapTimeSliced([], () => 1)).toEqual([]);
});

it('rejects with the error of the work and skips the remaining items', async () => {
  const worked: number[] = [];
  const failing = mapTimeSliced([1, 2, 3], (item) => {
    if (item === 2) throw new RangeError('two');
    worked.push(item);
  });
  await expect(failing).rejects.toThrow('two');
  expect(worked).toEqual([1]);
});

describe('time-sliced queue', () => {
  it('runs tasks in order, one time slice per turn of the event loop', async () => {
    const turns = new TimeSlicedQueue();
    const seen: string[] = [];
    const done = new Promise<void>((resolve) => {
      for (const name of ['a', 'b', 'c']) {
        turns.enqueue(() => {
          workFor(6);
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

  it('runs as many tasks per turn as fit into a time slice', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => clock.mockRestore());
    const turns = new TimeSlicedQueue();
    let read = 0;
    for (let i = 0; i < 100; i++) turns.enqueue(() => void read++);
    await new Promise((resolve) => setImmediate(resolve));
    expect(read).toBe(100);
  });
});

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { mapTimeSliced, TimeSlicedQueue } from './time-sliced.ts';

/** Milliseconds that the clock shows: a time slice is over at 5. */
let now: number;
let seen: string[];
const work = (name: string, ms: number): void => {
  now += ms;
  seen.push(name);
};

beforeEach(() => {
  now = 0;
  seen = [];
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
});

it('returns results in the order of the items', async () => {
  expect(await mapTimeSliced([1, 2, 3], (item) => item * 2)).toEqual([2, 4, 6]);
  expect(await mapTimeSliced([], () => 1)).toEqual([]);
});

it('yields to the event loop when a time slice is over', async () => {
  setImmediate(() => seen.push('turn'));
  await mapTimeSliced(['a', 'b', 'c', 'd'], (name) => work(name, name === 'a' ? 4 : 1));
  expect(seen).toEqual(['a', 'b', 'turn', 'c', 'd']);
});

it('rejects with the error of the work and skips the remaining items', async () => {
  const failing = mapTimeSliced([1, 2, 3], (item) => {
    if (item === 2) throw new RangeError('two');
    work(`${item}`, 0);
  });
  await expect(failing).rejects.toThrow('two');
  expect(seen).toEqual(['1']);
});

it('runs as many queued tasks per turn as fit into a time slice, and at least one', async () => {
  const queue = new TimeSlicedQueue();
  for (const [name, ms] of [
    ['a', 4],
    ['b', 1],
    ['c', 9],
    ['d', 0],
  ] as const)
    queue.enqueue(() => work(name, ms));
  for (const expected of ['ab', 'abc', 'abcd']) {
    await nextTurn();
    expect(seen.join('')).toBe(expected);
  }
});

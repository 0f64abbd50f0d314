import { expect, it } from 'vitest';
import { mapConcurrent } from './map-concurrent.ts';

it('limits concurrency, and runs nothing without items', async () => {
  let [now, most] = [0, 0];
  const work = async (item: number): Promise<number> => {
    now += 1;
    most = Math.max(most, now);
    await new Promise(setImmediate);
    now -= 1;
    return item * 2;
  };
  expect(await mapConcurrent([1, 2, 3, 4, 5, 6, 7], 3, work)).toEqual([2, 4, 6, 8, 10, 12, 14]);
  expect(most).toBe(3);
  expect(await mapConcurrent([], 3, work)).toEqual([]);
});

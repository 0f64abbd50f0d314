import { expect, it } from 'vitest';
import { mapConcurrent } from './map-concurrent.ts';

it('returns results in the order of the items', async () => {
  const gates = [1, 2, 3].map(() => Promise.withResolvers<string>());
  const results = mapConcurrent(
    [0, 1, 2],
    3,
    (at) => gates[at]?.promise ?? Promise.reject(new Error('no such item')),
  );
  gates[2]?.resolve('c');
  gates[0]?.resolve('a');
  gates[1]?.resolve('b');
  expect(await results).toEqual(['a', 'b', 'c']);
});

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

it('rejects if one task fails', async () => {
  await expect(mapConcurrent([1], 2, () => Promise.reject(new Error('broke')))).rejects.toThrow('broke');
});

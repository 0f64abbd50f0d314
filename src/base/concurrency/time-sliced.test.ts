import { expect, it } from 'vitest';
import { mapTimeSliced } from './time-sliced.ts';

/** Takes so many milliseconds of the processor. */
function workFor(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('gives the results in the order of the items', async () => {
  expect(await mapTimeSliced([1, 2, 3], (item) => item * 2)).toEqual([2, 4, 6]);
  expect(await mapTimeSliced([], () => 1)).toEqual([]);
});

it('lets others have their turn in between', async () => {
  const seen: number[] = [];
  let done = 0;
  const other = (): void => {
    seen.push(done);
    if (done < 30) setImmediate(other);
  };
  setImmediate(other);
  await mapTimeSliced(Array.from({ length: 30 }), () => {
    workFor(2);
    done++;
  });
  expect(new Set(seen).size).toBeGreaterThan(5);
});

it('fails with what the work throws, and leaves what is behind', async () => {
  const worked: number[] = [];
  const failing = mapTimeSliced([1, 2, 3], (item) => {
    if (item === 2) throw new RangeError('two');
    worked.push(item);
  });
  await expect(failing).rejects.toThrow('two');
  expect(worked).toEqual([1]);
});

import { expect, it } from 'vitest';
import { chunk } from './chunk.ts';

it('splits a list into parts of equal size, except that the last may be smaller', () => {
  expect(chunk([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunk([1, 2, 3, 4], 2)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(chunk([1], 100)).toEqual([[1]]);
});

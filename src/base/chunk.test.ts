import { expect, it } from 'vitest';
import { chunk } from './chunk.ts';

it('cuts a list into parts of a size, the last of which may be smaller', () => {
  expect(chunk([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(chunk([1, 2, 3, 4], 2)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(chunk([1], 100)).toEqual([[1]]);
});

it('makes no parts of nothing', () => {
  expect(chunk([], 3)).toEqual([]);
});

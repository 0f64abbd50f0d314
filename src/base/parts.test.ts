import { expect, it } from 'vitest';
import { inParts } from './parts.ts';

it('cuts a list into parts of a size, the last of which may be smaller', () => {
  expect(inParts([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(inParts([1, 2, 3, 4], 2)).toEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(inParts([1], 100)).toEqual([[1]]);
});

it('makes no parts of nothing', () => {
  expect(inParts([], 3)).toEqual([]);
});

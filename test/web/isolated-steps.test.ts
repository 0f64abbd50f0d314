import { expect, it } from 'vitest';
import { isolatedSteps } from '../../web/src/charts/series.ts';

it.each([
  ['in the middle', [null, null, 3, null], [2]],
  ['at either end', [1, null, null, 2], [0, 3]],
  ['of nothing, not of those beside others', [0, null, 1, 2, null, undefined, 3], [0, 6]],
  ['where nothing was measured', [null, undefined], []],
  ['of none', [], []],
])('finds what stands alone between gaps: %s', (_, values, steps) => {
  expect(isolatedSteps(values)).toEqual(steps);
});

import { expect, it } from 'vitest';
import { partitionCount } from './partition-count.ts';

it.each([
  ['none', 0, 432_000n, 1n],
  ['as many as one block pays', 4096, 432_000n, 1n],
  ['one more than that', 4097, 432_000n, 2n],
  ['as many as a cluster has', 1_200_000, 432_000n, 293n],
  ['more than a tenth of the epoch could pay', 1_200_000, 32n, 3n],
  ['some in an epoch that is too short for a tenth', 10_000, 9n, 1n],
])('stakes are paid in blocks by their number: %s', (_, stakes, slotsPerEpoch, blocks) => {
  expect(partitionCount(stakes, slotsPerEpoch)).toBe(blocks);
});

import type { DataSlice } from '../../../protocol/geyser/subscribe-request.ts';
import { InvalidFilter } from './invalid-filter.ts';

/**
 * Slices must ascend and not overlap.
 * @throws InvalidFilter
 */
export function checkSlices(slices: readonly DataSlice[]): readonly DataSlice[] {
  for (const [i, { offset, length }] of slices.entries()) {
    const next = slices[i + 1];
    if (next === undefined) continue;
    if (next.offset < offset) throw new InvalidFilter('data slices out of order');
    if (next.offset < offset + length) throw new InvalidFilter('data slices overlapped');
  }
  return slices;
}

import type { DataSlice } from '../../../protocol/geyser/subscribe-request.ts';
import { InvalidFilter } from './invalid-filter.ts';

/** The plugin says this twice for slices. */
const REPEATED = 'failed to create filter: ';

/** Checks that slices are in ascending order without overlap. @returns null if there are none. @throws InvalidFilter */
export function checkSlices(slices: readonly DataSlice[]): readonly DataSlice[] | null {
  for (const [i, { offset, length }] of slices.entries()) {
    const next = slices[i + 1];
    if (next === undefined) continue;
    const facts = { field: 'accounts_data_slice', value: slicesKey([next]) };
    if (next.offset < offset) throw new InvalidFilter(`${REPEATED}data slices out of order`, facts);
    if (next.offset < offset + length) throw new InvalidFilter(`${REPEATED}data slices overlapped`, facts);
  }
  return slices.length === 0 ? null : slices;
}

/** Returns the same text for equal slices; '' if there are none. */
export const slicesKey = (slices: readonly DataSlice[] | null): string =>
  (slices ?? []).map(({ offset, length }) => `${offset}+${length}`).join(',');

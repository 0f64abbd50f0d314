import type { AccountsDataFilter } from '../../../protocol/geyser/subscribe-request.ts';

/** Bytes that must stand at a place of the data. */
export type EqualBytes = Readonly<{ at: number; bytes: Uint8Array }>;

/** What of an account a filter asks to be equal to what it names: an index finds it by that. */
export type AccountEqualities = Readonly<{
  /** In the order in which they stand in the data; none is empty. */
  memcmps: readonly EqualBytes[];
  dataSize: number | null;
  lamports: bigint | null;
}>;

const inData = (left: EqualBytes, right: EqualBytes): number =>
  left.at - right.at || left.bytes.length - right.bytes.length;

/** @returns null for filters that ask nothing to be equal. */
export function equalitiesOf(filters: readonly AccountsDataFilter[]): AccountEqualities | null {
  const memcmps: EqualBytes[] = [];
  let dataSize: number | null = null;
  let lamports: bigint | null = null;
  for (const filter of filters) {
    if (filter.kind === 'memcmp' && filter.bytes.length > 0)
      // Further than any data reaches, an inexact number is far enough.
      memcmps.push({ at: Number(filter.offset), bytes: filter.bytes });
    else if (filter.kind === 'dataSize') dataSize = Number(filter.bytes);
    else if (filter.kind === 'lamports' && filter.compare === 'eq') lamports = filter.value;
  }
  if (memcmps.length === 0 && dataSize === null && lamports === null) return null;
  return { memcmps: memcmps.sort(inData), dataSize, lamports };
}

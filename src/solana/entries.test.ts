import { describe, expect, it } from 'vitest';
import {
  BATCH_ENTRIES_MAX,
  encodeEntries,
  measureEntries,
  readEntries,
  readTransactions,
} from './entries.ts';
import { U64_MAX } from './units.ts';

const signature = (fill: number): number[] => Array(64).fill(fill);
const key = (fill: number): number[] => Array(32).fill(fill);

/** One signer, one program, one instruction with one account and two data bytes. */
const legacy = Uint8Array.from([
  1,
  ...signature(7),
  1,
  0,
  1,
  2,
  ...key(1),
  ...key(2),
  ...key(3),
  1,
  1,
  1,
  0,
  2,
  5,
  6,
]);
const v0 = Uint8Array.from([1, ...signature(8), 0x80, ...legacy.slice(65), 1, ...key(9), 2, 4, 5, 1, 6]);
/** Config: priority fee (two bits) and compute unit limit; one instruction with one account and two bytes. */
const v1 = Uint8Array.from([
  ...[0x81, 1, 0, 1, 7, 0, 0, 0],
  ...key(3),
  ...[1, 2],
  ...key(1),
  ...key(2),
  ...[1, 0, 0, 0, 0, 0, 0, 0],
  ...[2, 0, 0, 0],
  ...[1, 1, 2, 0],
  ...[0, 5, 6],
  ...signature(9),
]);

const entry = { numHashes: 12n, hash: Uint8Array.from(key(4)), transactions: [legacy, v1, v0] };

describe('entries', () => {
  it('round-trip with transactions of all versions', () => {
    const bytes = encodeEntries([entry, { ...entry, numHashes: U64_MAX, transactions: [] }]);
    const [first, second] = readEntries(bytes)!;
    expect([first!.numHashes, second!.numHashes]).toEqual([12n, U64_MAX]);
    expect(first!.hash).toEqual(entry.hash);
    expect(first!.transactions.map((one) => one.bytes)).toEqual([legacy, v1, v0]);
    expect(first!.transactions.map(({ version }) => version)).toEqual(['legacy', 1, 0]);
    expect(first!.transactions.map((one) => one.signature[0])).toEqual([7, 9, 8]);
    expect(second!.transactions).toEqual([]);
    expect(measureEntries(bytes)).toEqual({ kind: 'entries', length: bytes.length });
  });

  it('may be followed by padding', () => {
    const bytes = encodeEntries([entry]);
    const padded = Uint8Array.from([...bytes, ...new Uint8Array(500)]);
    expect(measureEntries(padded)).toEqual({ kind: 'entries', length: bytes.length });
    expect(readEntries(padded)).toHaveLength(1);
  });

  it('are empty for a block marker and for no data', () => {
    const marker = Uint8Array.from([...new Uint8Array(8), 1, 0, 1, 3, 0, 9, 9, 9]);
    for (const bytes of [marker, new Uint8Array(8)]) {
      expect(measureEntries(bytes)).toEqual({ kind: 'marker', length: 0 });
      expect(readEntries(bytes)).toEqual([]);
    }
  });

  it('are rejected beyond the batch limit', () => {
    const empty = (count: number): Uint8Array => {
      const batch = new Uint8Array(8 + 48 * count);
      new DataView(batch.buffer).setUint32(0, count, true);
      return batch;
    };
    expect(readTransactions(empty(BATCH_ENTRIES_MAX))).toEqual({
      entries: BATCH_ENTRIES_MAX,
      transactions: [],
    });
    const tooMany = empty(BATCH_ENTRIES_MAX + 1);
    expect([readTransactions(tooMany), readEntries(tooMany)]).toEqual([null, null]);
    expect(measureEntries(tooMany).kind).toBe('malformed');
  });

  it('are rejected when truncated or miscounted', () => {
    const bytes = encodeEntries([entry]);
    for (let length = 0; length < bytes.length; length++) {
      expect(readEntries(bytes.subarray(0, length))).toBeNull();
      expect(readTransactions(bytes.subarray(0, length))).toBeNull();
      expect(measureEntries(bytes.subarray(0, length)).kind).toBe('malformed');
    }
    for (const at of [0, 3, 4, 7, 48, 51, 55]) {
      const more = Uint8Array.from(bytes);
      more[at] = 255;
      expect(readEntries(more)).toBeNull();
    }
  });
});

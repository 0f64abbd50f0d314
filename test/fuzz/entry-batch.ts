import { OutOfBytes } from '../../src/base/bytes.ts';
import { InvalidShortVec } from '../../src/solana/short-vec.ts';
import { slot } from '../../src/solana/units.ts';
import { BatchReader } from '../../src/upstream/shreds/batch-reader.ts';
import { accepted } from './engine/accepted.ts';
import { seeds as batches } from './entries.ts';

export const from = 'leaders, through shreds';
export const covers = ['protocol/geyser/storage/encode-transaction.ts', 'upstream/shreds/batch-reader.ts'];

/** Batches of entries. */
export const seeds = batches;

const key = new Uint8Array(32).fill(8);
const place = { slot: slot(9), at: 5n, firstShredIndex: 0, endShredIndex: 1 };

/** The transactions of a batch have their keys where they say, and can be told as protobuf. */
export function fuzz(entries: Uint8Array): boolean {
  let reported = 0;
  const reader = new BatchReader({
    tables: { resolve: () => ({ writable: [key], readonly: [] }) },
    listener: {
      onBatch: () => {},
      transactions: (transactions) => {
        for (const each of transactions) {
          const { bytes, offsets } = each.keys;
          if (offsets.some((at) => at < 0 || at + 32 > bytes.length))
            throw new RangeError('a key lies outside its bytes');
          if (accepted(() => each.transaction, OutOfBytes, InvalidShortVec)) reported++;
        }
      },
    },
  });
  reader.read({ ...place, entries } as Parameters<BatchReader['read']>[0]);
  return reported > 0;
}

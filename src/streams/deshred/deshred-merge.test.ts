import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slot as slotOf } from '../../solana/units.ts';
import type { DeshredListener, DeshredSlot, DeshredTransaction, EntryBatch } from './deshred-event.ts';
import { DeshredMerge } from './deshred-merge.ts';

const limits = { slotsTracked: 4, seenPerSlotMax: 100 };

const transaction = (slot: number, name: number): DeshredTransaction => ({
  ...{ slot: slotOf(slot), signature: new Uint8Array(64).fill(name), isVote: false },
  ...{ transaction: new Uint8Array(), keys: { bytes: new Uint8Array(), offsets: [] } },
  ...{ loadedWritable: [], loadedReadonly: [], firstShredIndex: 0, endShredIndex: 0, at: 0n },
});
const batch = (slot: number, content: number, endShredIndex = 0): EntryBatch => ({
  ...{ slot: slotOf(slot), entries: Uint8Array.of(content), firstShredIndex: 0, endShredIndex, at: 0n },
});
const status = (slot: number, of: DeshredSlot['status']): DeshredSlot => ({
  ...{ slot: slotOf(slot), parent: null, status: of, at: 0n },
});

function scene(given = limits) {
  const emitted: string[] = [];
  const listener: DeshredListener = {
    onBatch: ({ slot, entries }) => emitted.push(`batch ${slot}/${entries[0]}`),
    onTransaction: ({ slot, signature }) => emitted.push(`transaction ${slot}/${signature[0]}`),
    onSlot: ({ slot, status: of }) => emitted.push(`${of} ${slot}`),
  };
  return { merge: new DeshredMerge(listener, given), emitted };
}

describe('DeshredMerge', () => {
  it('emits each transaction as often as a batch contains it, except those emitted before', () => {
    const { merge, emitted } = scene();
    merge.onTransaction(transaction(5, 1));
    merge.onTransactions([transaction(5, 2), transaction(5, 1), transaction(5, 2)]);
    merge.onTransactions([transaction(5, 2), transaction(5, 3)]);
    expect(emitted).toEqual(['transaction 5/1', 'transaction 5/2', 'transaction 5/2', 'transaction 5/3']);
    expect(merge.duplicates).toBe(2);
  });

  it('emits a batch once, even if only one source knows its shreds', () => {
    const { merge, emitted } = scene();
    merge.onBatch(batch(5, 1, 32));
    merge.onBatch(batch(5, 1));
    merge.onBatch(batch(5, 2));
    merge.onBatch(batch(6, 1));
    expect(emitted).toEqual(['batch 5/1', 'batch 5/2', 'batch 6/1']);
  });

  it('emits each status of a slot once', () => {
    const { merge, emitted } = scene();
    for (let source = 0; source < 3; source++) {
      merge.onSlot(status(5, 'firstShredReceived'));
      merge.onSlot(status(5, 'completed'));
    }
    expect(emitted).toEqual(['firstShredReceived 5', 'completed 5']);
  });

  it('emits duplicates rather than losing items beyond the limit of a slot', () => {
    const { merge, emitted } = scene({ slotsTracked: 4, seenPerSlotMax: 2 });
    for (const name of [1, 2, 3, 1, 2, 3]) merge.onTransaction(transaction(5, name));
    expect(emitted.map((line) => line.at(-1))).toEqual(['1', '2', '3', '3']);
  });

  it('is not affected by a source of another chain', () => {
    const { merge, emitted } = scene();
    merge.onTransaction(transaction(5, 1));
    merge.onTransaction(transaction(900_000_000, 1));
    merge.onTransaction(transaction(900_000_001, 1));
    merge.onTransaction(transaction(5, 1));
    merge.onTransaction(transaction(6, 1));
    expect(emitted.filter((line) => line.length < 20)).toEqual(['transaction 5/1', 'transaction 6/1']);
  });

  it('emits the union of all sources once, in any order of arrival', () => {
    const event = fc.record({ slot: fc.integer({ min: 1, max: 4 }), name: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(event), fc.array(fc.nat(), { minLength: 1 }), (events, order) => {
        const { merge, emitted } = scene();
        // Two sources with the same events, interleaved by the numbers.
        const sources = [[...events], [...events]];
        for (let turn = 0; sources.some((left) => left.length > 0); turn++) {
          const picked = sources[order[turn % order.length]! % 2]!;
          const next = (picked.length > 0 ? picked : sources.find((left) => left.length > 0))?.shift();
          if (next !== undefined) merge.onTransaction(transaction(next.slot, next.name));
        }
        const expected = new Set(events.map(({ slot, name }) => `transaction ${slot}/${name}`));
        expect(emitted.length).toBe(expected.size);
        expect(new Set(emitted)).toEqual(expected);
      }),
    );
  });
});

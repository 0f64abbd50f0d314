import { describe, expect, it } from 'vitest';
import type { Update } from '../../../protocol/geyser/update/decode-update.ts';
import type { SlotStatus } from '../../../protocol/geyser/update/slot.ts';
import { slot as slotOf } from '../../../solana/units.ts';
import { UpdateSequence } from './update-sequence.ts';

const statusOf = (slot: number, status: SlotStatus, parent: number | null = slot - 1): Update => ({
  ...{ kind: 'slot', slot: slotOf(slot), status, deadError: null },
  parent: parent === null ? null : slotOf(parent),
});

function start(completeUpTo: number | null = null) {
  const evicted: bigint[] = [];
  const sequence = new UpdateSequence({
    completeUpTo: completeUpTo === null ? null : slotOf(completeUpTo),
    slotsMax: 3,
    onEvicted: (slot) => evicted.push(slot),
  });
  const kindsOf = (...updates: readonly Update[]): string[] =>
    updates.flatMap((update) => sequence.eventsOf(update, 0n).map(({ kind }) => kind));
  return { sequence, kindsOf, evicted };
}

describe('UpdateSequence', () => {
  it('restarts a dead slot, even after it was complete', () => {
    const { sequence, kindsOf } = start();
    const whole = [statusOf(5, 'createdBank'), statusOf(5, 'processed')];
    expect(kindsOf(...whole, statusOf(5, 'dead'))).toEqual(['created', 'processed', 'dead']);
    expect(sequence.emittedTransactions().upTo('processed')).toBe(4n);
    expect(kindsOf(...whole)).toEqual(['created', 'processed']);
    expect(sequence.emittedTransactions().upTo('processed')).toBe(5n);
  });

  it('reports a slot without a bank update when its parent is known', () => {
    const { sequence, kindsOf } = start();
    expect(kindsOf(statusOf(7, 'createdBank', null))).toEqual([]);
    expect(sequence.eventsOf(statusOf(7, 'processed', 5), 0n)[0]).toMatchObject({ parent: 5n });
  });

  it('drops updates of earlier or complete slots, but not their commitments', () => {
    const { sequence, kindsOf } = start(10);
    expect(kindsOf(statusOf(10, 'createdBank'), statusOf(10, 'processed'))).toEqual([]);
    expect(kindsOf(statusOf(9, 'confirmed'), statusOf(8, 'finalized'), statusOf(8, 'finalized'))).toEqual([
      'confirmed',
      'rooted',
    ]);
    expect(sequence.emittedTransactions().upTo('finalized')).toBe(10n);
    kindsOf(statusOf(11, 'createdBank'), statusOf(11, 'processed'));
    expect(kindsOf(statusOf(11, 'createdBank'), statusOf(11, 'processed'))).toEqual([]);
  });

  it('evicts the oldest slot beyond its limit', () => {
    const { kindsOf, evicted } = start();
    for (const slot of [1, 2, 3]) kindsOf(statusOf(slot, 'createdBank'));
    expect(evicted).toEqual([]);
    kindsOf(statusOf(4, 'createdBank'));
    expect(evicted).toEqual([1n]);
  });
});

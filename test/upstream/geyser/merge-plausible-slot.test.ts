import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { slot as slotOf } from '../../../src/solana/units.ts';
import type { StreamReader } from '../../../src/upstream/geyser/stream-reader.ts';
import { metaIs, slotIs } from './chain-model.ts';
import { bank, dead, emittedCount, live, PolledHead, startMerge, whole } from './merge-stage.ts';

/** The default stall timeout. */
const stallMs = 5_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Sends complete slots at a realistic rate. */
function pass(
  readers: readonly StreamReader[],
  from: number,
  to: number,
  slotMs: number,
  each?: (slot: number) => void,
  blockhash = '',
) {
  for (let slot = from; slot <= to; slot++) {
    vi.advanceTimersByTime(slotMs);
    each?.(slot);
    for (const reader of readers) for (const update of wholeOf(slot, blockhash)) reader.handleUpdate(update);
  }
}

const wholeOf = (slot: number, blockhash: string) => [
  bank(slot),
  metaIs(slot, slot - 1, { blockhash }),
  slotIs(slot, 'processed', slot - 1),
];

describe('a head behind the Geyser servers', () => {
  /** Sends 200 slots; each is confirmed with the next one and finalized 32 later. */
  function confirm(readers: readonly StreamReader[], now: PolledHead, lag: number): void {
    for (let slot = 1_000; slot < 1_200; slot++) {
      now.slot = slot - lag;
      for (const reader of readers) {
        for (const update of whole(slot)) reader.handleUpdate(update);
        reader.handleUpdate(slotIs(slot - 1, 'confirmed', slot - 2));
        if (slot >= 1_032) reader.handleUpdate(slotIs(slot - 32, 'finalized', slot - 33));
      }
    }
  }

  for (const [lag, level] of [
    [20, 'confirmed'],
    [60, 'finalized'],
  ] as const) {
    it(`delays '${level}' until the head catches up: ${lag} slots`, () => {
      const now = new PolledHead(1_000 - lag);
      const { merge, emitted, of } = startMerge({ stallMs }, now.head);
      const both = [merge.addReader(live), merge.addReader(live)];
      confirm(both, now, lag);
      const near = now.slot + 8;
      expect([of(near).at(-1), of(near + 1).at(-1)]).toEqual([level, 'processed']);
      now.slot = 1_199;
      for (const reader of both) reader.handleUpdate(slotIs(1_199, 'confirmed', 1_198));
      const levels = (name: string): number => emitted.filter((line) => line.endsWith(name)).length;
      expect([levels('confirmed'), levels('finalized')]).toEqual([200, 168]);
    });
  }
});

describe('a chain reset', () => {
  for (const [slotMs, upTo] of [
    [400, 300],
    [20, 700],
  ] as const) {
    it(`is detected at the first slot with a different blockhash: slot ${upTo}, ${slotMs} ms per slot`, () => {
      const now = new PolledHead(1);
      const { merge, emitted, lost } = startMerge({ stallMs }, now.head);
      const before = merge.addReader(live);
      pass([before], 1, upTo, slotMs, now.advance, 'old');
      merge.removeReader(before);
      now.slot = 0;
      const after = merge.addReader({ ...live, from: slotOf(upTo - 3), tip: merge.newest });
      const count = emitted.length;
      pass([after], 1, upTo, slotMs, now.advance, 'new');
      expect(lost).toEqual(['all']);
      // The merge remembers 512 slots.
      const again = Math.max(1, upTo - 511);
      expect(emitted[count]).toBe(`${again + 1} createdBank`);
      expect(emittedCount(emitted.slice(count), 1, upTo)).toBe(upTo - again);
    });
  }

  it('is detected without a head, unless another server is beyond the finished slots', () => {
    const { merge, emitted, lost } = startMerge({ stallMs, slotsMax: 8 });
    const [before, after] = [merge.addReader(live), merge.addReader(live)];
    pass([before], 1, 300, 400);
    pass([after], 1, 20, 400);
    expect(lost).toEqual([]);
    merge.removeReader(before);
    pass([after], 21, 40, 400);
    expect(lost).toEqual(['all']);
    expect(emitted.at(-1)).toBe('40 processed');
  });

  it('is not accepted from one server while another server or the head contradicts it', () => {
    const now = new PolledHead(1);
    const { merge, emitted, lost } = startMerge({ stallMs }, now.head);
    const [one, other] = [merge.addReader(live), merge.addReader(live)];
    pass([one], 1, 300, 400, now.advance, 'old');
    pass([other], 200, 290, 400, now.advance, 'new');
    merge.removeReader(one);
    pass([other], 291, 299, 400, now.advance, 'new');
    expect(lost).toEqual([]);
    expect(emittedCount(emitted, 1, 300)).toBe(300);
  });

  it('is not assumed when a leader produced two blocks, each server sends one, and there is a fork', () => {
    const now = new PolledHead(998);
    const { merge, emitted, lost } = startMerge({ stallMs }, now.head);
    const [one, other] = [merge.addReader(live), merge.addReader(live)];
    pass([one, other], 990, 997, 400);
    const [forkBank, ...forkEnd] = wholeOf(998, '');
    one.handleUpdate(forkBank!);
    const beside = [
      bank(999),
      metaIs(999, 997, { blockhash: 'one' }),
      slotIs(999, 'processed', 997),
      bank(1_000),
    ];
    for (const update of [...beside, ...forkEnd]) one.handleUpdate(update);
    for (const update of [bank(999), metaIs(999, 997, { blockhash: 'other' }), slotIs(999, 'processed', 997)])
      other.handleUpdate(update);
    pass([one], 1_001, 1_010, 400);
    expect(lost).toEqual([]);
    expect(emitted.filter((line) => line === '999 processed')).toHaveLength(1);
  });
});

it('accepts the slots of an outage, even if the newest slot is restarted after it', () => {
  const { merge, emitted } = startMerge({ stallMs });
  const [one] = [merge.addReader(live), merge.addReader(live)];
  pass([one], 990, 999, 400);
  one.handleUpdate(bank(1_000));
  vi.advanceTimersByTime(300_000);
  for (const update of [dead(1_000), ...wholeOf(1_000, ''), bank(1_750)]) one.handleUpdate(update);
  expect(emitted.slice(-2)).toEqual(['1000 processed', '1750 createdBank']);
});

import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { encodeTimestamp } from '../../protocol/geyser/encode/envelope.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { slot } from '../../solana/units.ts';
import { type ShredPriorityOptions, ShredPriorityQueue } from './shred-priority-queue.ts';

function opened(options: Partial<ShredPriorityOptions> = {}) {
  const told: string[] = [];
  const read = { shreds: 0 };
  const first = new ShredPriorityQueue(
    {
      onUpdate: (update) => told.push(`slot ${update.slot}`),
      onLost: (from, to) => told.push(`lost ${from} to ${to}`),
      onReset: (why) => told.push(`start over: ${why}`),
    },
    { accepted: () => read.shreds, ...options },
  );
  const tell = (number: number): void =>
    first.onUpdate(
      rawSlot(
        { kind: 'slot', slot: slot(number), parent: null, status: 'processed', deadError: null },
        encodeTimestamp(0n),
      ),
    );
  return { first, tell, told, read };
}

describe('the standard stage beside shreds', () => {
  it('is told in order, losses and starts over too, at the end of the turn', async () => {
    const { first, tell, told } = opened();
    tell(1);
    first.onLost(slot(2), slot(3), new Set(['slot']));
    first.onReset('source');
    tell(4);
    expect(told).toEqual([]);
    await turn();
    expect(told).toEqual(['slot 1', 'lost 2 to 3', 'start over: source', 'slot 4']);
    tell(5);
    await turn();
    expect(told.at(-1)).toBe('slot 5');
  });

  it('waits while as many shreds are read in a turn as are read at most, and no longer', async () => {
    const { tell, told, read } = opened({ shredsPerTick: 32, waitMaxMs: 10_000 });
    tell(1);
    for (let i = 0; i < 5; i++) {
      read.shreds += 32;
      await turn();
      expect(told).toEqual([]);
    }
    read.shreds += 31;
    await turn();
    expect(told).toEqual(['slot 1']);
  });

  it('is not held up by a flood for longer than is allowed', async () => {
    const { tell, told, read } = opened({ waitMaxMs: 30 });
    const since = performance.now();
    tell(1);
    while (told.length === 0) {
      read.shreds += 1_000;
      await turn();
    }
    expect(performance.now() - since).toBeGreaterThanOrEqual(30);
  });
});

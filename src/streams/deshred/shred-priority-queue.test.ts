import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { encodeTimestamp } from '../../protocol/geyser/encode/envelope.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { slot } from '../../solana/units.ts';
import { type ShredPriorityOptions, ShredPriorityQueue } from './shred-priority-queue.ts';

function opened(options: Partial<ShredPriorityOptions> = {}) {
  const emitted: string[] = [];
  const read = { shreds: 0 };
  const first = new ShredPriorityQueue(
    {
      onUpdate: (update) => emitted.push(`slot ${update.slot}`),
      onLost: (from, to) => emitted.push(`lost ${from} to ${to}`),
      onReset: (why) => emitted.push(`reset: ${why}`),
    },
    { accepted: () => read.shreds, ...options },
  );
  const send = (number: number): void =>
    first.onUpdate(
      rawSlot(
        { kind: 'slot', slot: slot(number), parent: null, status: 'processed', deadError: null },
        encodeTimestamp(0n),
      ),
    );
  return { first, send, emitted, read };
}

describe('ShredPriorityQueue', () => {
  it('forwards updates, losses and resets in order at the end of the tick', async () => {
    const { first, send, emitted } = opened();
    send(1);
    first.onLost(slot(2), slot(3), new Set(['slot']));
    first.onReset('source');
    send(4);
    expect(emitted).toEqual([]);
    await turn();
    expect(emitted).toEqual(['slot 1', 'lost 2 to 3', 'reset: source', 'slot 4']);
    send(5);
    await turn();
    expect(emitted.at(-1)).toBe('slot 5');
  });

  it('waits while each tick reads the maximum number of shreds, and no longer', async () => {
    const { send, emitted, read } = opened({ shredsPerTick: 32, waitMaxMs: 10_000 });
    send(1);
    for (let i = 0; i < 5; i++) {
      read.shreds += 32;
      await turn();
      expect(emitted).toEqual([]);
    }
    read.shreds += 31;
    await turn();
    expect(emitted).toEqual(['slot 1']);
  });
});

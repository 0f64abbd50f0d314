import { describe, expect, it } from 'vitest';
import { slot } from '../../../solana/units.ts';
import type { ChainReader } from '../chain-reader.ts';
import { feedLimits } from '../limits.ts';
import type { SlotInfo } from '../pubsub-message.ts';
import { SlotGap } from './create-gap-recovery.ts';
import type { Gap } from './gap-recovery.ts';

const at = (value: number): SlotInfo => ({
  slot: slot(value),
  parent: slot(value - 1),
  root: slot(value - 32),
});
const message = (value: number): Buffer =>
  Buffer.from(`{"parent":${value - 1},"root":${value - 32},"slot":${value}}`);

/** Emitted slots of a gap from 1000 to 1003. */
async function fill(gapRecovery: SlotGap, buffered: readonly Buffer[]): Promise<number[]> {
  const emitted: number[] = [];
  const chain = Array.from({ length: 14 }, (_, index) => slot(993 + index));
  const gap: Gap = {
    opened: at(900),
    from: at(1_000),
    to: at(1_003),
    reader: { slots: async () => chain } as unknown as ChainReader,
    limits: feedLimits,
    signal: new AbortController().signal,
    buffered: () => buffered,
    emit: (result) => emitted.push(JSON.parse(result.toString()).slot),
  };
  await gapRecovery.fill(gap);
  return emitted;
}

describe('SlotGap', () => {
  it('emits each slot once on one connection', () => {
    const gapRecovery = new SlotGap(100);
    const verdicts = [1_000, 1_001, 1_001, 1_000, 1_002].map((value) => gapRecovery.decide(message(value)));
    expect(verdicts).toEqual(['pass', 'pass', 'drop', 'drop', 'pass']);
  });

  it('emits missed slots up to the first slot of the new connection', async () => {
    const gapRecovery = new SlotGap(100);
    gapRecovery.decide(message(1_000));
    const buffered = [message(1_004), message(1_005)];
    expect(await fill(gapRecovery, buffered)).toEqual([1_001, 1_002, 1_003]);
    expect(buffered.map((result) => gapRecovery.decide(result))).toEqual(['pass', 'pass']);
  });
});

import { describe, expect, it } from 'vitest';
import { signatureOf, transfer } from '../../../../test/upstream/feeds/geyser-updates.ts';
import { blockOf } from '../../../../test/upstream/geyser/source-rig.ts';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { Block } from '../../../solana/block.ts';
import type { Signature } from '../../../solana/signature.ts';
import { slot } from '../../../solana/units.ts';
import type { ChainReader } from '../chain-reader.ts';
import { feedLimits } from '../limits.ts';
import type { Gap } from './gap-recovery.ts';
import { LogsGap, SignatureGap } from './logs-gap.ts';
import { SlotGap } from './slot-gap.ts';

const at = (value: number) => ({ slot: slot(value), parent: slot(value - 1), root: slot(value - 32) });

const gapOf = (
  given: Pick<Gap, 'from' | 'to' | 'emit'>,
  reader: object,
  buffered: readonly Buffer[] = [],
) => ({
  ...given,
  opened: at(80),
  reader: reader as ChainReader,
  limits: feedLimits,
  signal: new AbortController().signal,
  buffered: () => buffered,
});

const tips: Readonly<Record<Commitment, number>> = { processed: 130, confirmed: 129, finalized: 98 };

/** Notifications for a transaction that reached a commitment during a gap. */
async function fillAt(
  commitment: Commitment,
  confirmationStatus: Commitment,
  received = false,
): Promise<string[]> {
  const emitted: string[] = [];
  const status = { slot: 90, confirmations: null, err: null, confirmationStatus };
  const reader = {
    request: async () => Buffer.from(JSON.stringify({ context: { slot: tips.processed }, value: [status] })),
    slot: async (level: Commitment) => slot(tips[level]),
  };
  const emit: Gap['emit'] = (result, isLast) => emitted.push(`${result} ${isLast}`);
  const signature = '1'.repeat(64) as Signature;
  const subscription = { kind: 'signature', signature, commitment, received } as const;
  await new SignatureGap(subscription).fill(gapOf({ from: at(85), to: at(130), emit }, reader));
  return emitted;
}

describe('SignatureGap', () => {
  it.each([
    ['processed', 130],
    ['confirmed', 129],
    ['finalized', 98],
  ] as const)('emits the result with the slot of the commitment: %s', async (commitment, context) => {
    const result = `{"context":{"slot":${context}},"value":{"err":null}}`;
    expect(await fillAt(commitment, 'finalized')).toEqual([`${result} true`]);
  });

  it('emits nothing before the transaction reaches the commitment', async () => {
    expect(await fillAt('finalized', 'confirmed')).toEqual([]);
    expect(await fillAt('confirmed', 'processed')).toEqual([]);
  });

  it('emits one receivedSignature notification', async () => {
    const received = '{"context":{"slot":130},"value":"receivedSignature"}';
    expect(await fillAt('confirmed', 'processed', true)).toEqual([`${received} undefined`]);
  });
});

it('LogsGap emits the logs of the gap that were not received before', async () => {
  const gapRecovery = new LogsGap({ kind: 'logs', of: 'all', commitment: 'confirmed' }, 100);
  const [first, second, third] = [1, 2, 3].map((number) => signatureOf(transfer(number)));
  const received = Buffer.from(`{"context":{"slot":1000},"value":{"signature":"${first}"}}`);
  expect(gapRecovery.decide(received)).toBe('pass');
  const blocks = [blockOf(1_000, 1, 2), blockOf(1_002, 3)];
  const reader = {
    slots: async () => blocks.map((block) => block.slot),
    eachBlock: async (_slots: unknown, _signal: unknown, onBlock: (block: Block) => Promise<void>) => {
      for (const block of blocks) await onBlock(block);
    },
  };
  const emitted: unknown[] = [];
  const emit: Gap['emit'] = (result) => emitted.push(JSON.parse(result.toString()).value.signature);
  await gapRecovery.fill(gapOf({ from: at(1_000), to: at(1_003), emit }, reader));
  expect(emitted).toEqual([second, third]);
  expect(gapRecovery.decide(received)).toBe('drop');
});

it.each([
  ['processed', 'pass'],
  ['confirmed', 'drop'],
] as const)('LogsGap drops what a node repeats; in another slot at %s: %s', (commitment, inAnotherSlot) => {
  const gapRecovery = new LogsGap({ kind: 'logs', of: 'all', commitment }, 100);
  const signature = signatureOf(transfer(1));
  const verdicts = [1_000, 1_000, 1_001].map((slot) =>
    gapRecovery.decide(Buffer.from(`{"context":{"slot":${slot}},"value":{"signature":"${signature}"}}`)),
  );
  expect(verdicts).toEqual(['pass', 'drop', inAnotherSlot]);
});

describe('SlotGap', () => {
  const message = (value: number): Buffer =>
    Buffer.from(`{"parent":${value - 1},"root":${value - 32},"slot":${value}}`);

  it('emits missed slots once, up to the first slot of the new connection', async () => {
    const gapRecovery = new SlotGap(100);
    const verdicts = [999, 1_000, 1_000, 999].map((value) => gapRecovery.decide(message(value)));
    expect(verdicts).toEqual(['pass', 'pass', 'drop', 'drop']);
    const buffered = [message(1_004), message(1_005)];
    const emitted: number[] = [];
    const emit: Gap['emit'] = (result) => emitted.push(JSON.parse(result.toString()).slot);
    const reader = { slots: async () => Array.from({ length: 14 }, (_, index) => slot(993 + index)) };
    await gapRecovery.fill(gapOf({ from: at(1_000), to: at(1_003), emit }, reader, buffered));
    expect(emitted).toEqual([1_001, 1_002, 1_003]);
    expect(buffered.map((result) => gapRecovery.decide(result))).toEqual(['pass', 'pass']);
  });
});

import { describe, expect, it } from 'vitest';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { Signature } from '../../../solana/signature.ts';
import { slot } from '../../../solana/units.ts';
import type { ChainReader } from '../chain-reader.ts';
import { feedLimits } from '../limits.ts';
import { SignatureGap } from './create-gap-recovery.ts';
import type { Gap } from './gap-recovery.ts';

const at = (value: number) => ({ slot: slot(value), parent: slot(value), root: slot(value - 32) });
const tips: Readonly<Record<Commitment, number>> = { processed: 130, confirmed: 129, finalized: 98 };

/** Notifications for a transaction that reached a commitment during a gap. */
async function fillAt(commitment: Commitment, confirmationStatus: Commitment): Promise<string[]> {
  const emitted: string[] = [];
  const status = { slot: 90, confirmations: null, err: null, confirmationStatus };
  const reader = {
    request: async () => Buffer.from(JSON.stringify({ context: { slot: tips.processed }, value: [status] })),
    slot: async (level: Commitment) => slot(tips[level]),
  };
  const gap: Gap = {
    opened: at(80),
    from: at(85),
    to: at(130),
    reader: reader as unknown as ChainReader,
    limits: feedLimits,
    signal: new AbortController().signal,
    buffered: () => [],
    emit: (result, last) => emitted.push(`${result} ${last}`),
  };
  const signature = '1'.repeat(64) as Signature;
  await new SignatureGap({ kind: 'signature', signature, commitment, received: false }).fill(gap);
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
});

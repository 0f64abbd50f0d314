import { describe, expect, it } from 'vitest';
import type { Commitment } from '../../../protocol/commitment.ts';
import type { Signature } from '../../../solana/signature.ts';
import { slot } from '../../../solana/units.ts';
import type { ChainReader } from '../chain-reader.ts';
import { feedLimits } from '../limits.ts';
import type { Gap } from './continuity.ts';
import { SignatureGap } from './logs-gap.ts';

const at = (value: number) => ({ slot: slot(value), parent: slot(value), root: slot(value - 32) });
const tips: Readonly<Record<Commitment, number>> = { processed: 130, confirmed: 129, finalized: 98 };

/** Notifications for a transaction that reached a commitment during a gap. */
async function told(commitment: Commitment, confirmationStatus: Commitment): Promise<string[]> {
  const heard: string[] = [];
  const status = { slot: 90, confirmations: null, err: null, confirmationStatus };
  const reader = {
    request: async () => Buffer.from(JSON.stringify({ context: { slot: tips.processed }, value: [status] })),
    slot: async (asked: Commitment) => slot(tips[asked]),
  };
  const gap: Gap = {
    opened: at(80),
    from: at(85),
    to: at(130),
    reader: reader as unknown as ChainReader,
    limits: feedLimits,
    signal: new AbortController().signal,
    buffered: () => [],
    emit: (result, last) => heard.push(`${result} ${last}`),
  };
  const signature = '1'.repeat(64) as Signature;
  await new SignatureGap({ kind: 'signature', signature, commitment, received: false }).fill(gap);
  return heard;
}

describe('a signature whose transaction landed in a gap', () => {
  it.each([
    ['processed', 130],
    ['confirmed', 129],
    ['finalized', 98],
  ] as const)('is told with the slot that came to its commitment: %s', async (commitment, context) => {
    const result = `{"context":{"slot":${context}},"value":{"err":null}}`;
    expect(await told(commitment, 'finalized')).toEqual([`${result} true`]);
  });

  it('is not told before its transaction came to its commitment', async () => {
    expect(await told('finalized', 'confirmed')).toEqual([]);
    expect(await told('confirmed', 'processed')).toEqual([]);
  });
});

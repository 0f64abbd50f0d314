import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { describe, expect, it } from 'vitest';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { decodeSubscribeUpdate, type Update } from '../../src/protocol/geyser/subscribe-update.ts';
import { ConfirmedBlock } from '../geyser/oracle.ts';
import { messageOf, tailOf } from '../geyser/re-encode.ts';
import { readShape, shapeOf } from '../geyser/shapes.ts';
import { blockFiles, blockMetaOf, blockOf, hasBlocks, readBlockFile } from './recorded-block.ts';

const AT = encodeTimestamp(1_700_000_000_123n);

describe.skipIf(!hasBlocks).each(blockFiles)('recorded block %s (../shared/data, blocks)', (file) => {
  it('is streamed with its original values', () => {
    const block = blockOf(readBlockFile(file), file);
    const updates: readonly Update[] = [
      ...block.transactions.map((info) => ({ kind: 'transaction' as const, slot: block.slot, info })),
      blockMetaOf(block),
      block,
    ];
    for (const update of updates) {
      const wire = messageOf(['a'], tailOf(update, AT));
      expect(shapeOf(decodeSubscribeUpdate(wire).update!)).toEqual(shapeOf(update));
      expect(readShape(update.kind, SubscribeUpdate.decode(wire))).toEqual(shapeOf(update));
    }
  });

  it('has token amounts as the node wrote them', () => {
    const bytes = readBlockFile(file);
    const theirs = ConfirmedBlock.decode(bytes).transactions.map(({ meta }) => meta!);
    const actual = SubscribeUpdate.decode(messageOf([], tailOf(blockOf(bytes, file), AT))).block!
      .transactions;
    actual.forEach(({ meta }, index) => {
      expect(meta!.preTokenBalances).toEqual(theirs[index]!.preTokenBalances.map(completed));
      expect(meta!.postTokenBalances).toEqual(theirs[index]!.postTokenBalances.map(completed));
    });
  });
});

type Balance = NonNullable<
  ReturnType<typeof ConfirmedBlock.decode>['transactions'][number]['meta']
>['preTokenBalances'][number];

/** Old nodes wrote no amount text. */
function completed(balance: Balance): unknown {
  const amount = balance.uiTokenAmount!;
  return {
    ...balance,
    uiTokenAmount: { ...amount, uiAmountString: amount.uiAmountString || expect.any(String) },
  };
}

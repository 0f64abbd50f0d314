import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { describe, expect, it } from 'vitest';
import { slot as slotOf } from '../../src/ledger/units.ts';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/timestamp.ts';
import { decodeConfirmedBlock } from '../../src/protocol/geyser/storage/confirmed-block.ts';
import { decodeSubscribeUpdate, type Update } from '../../src/protocol/geyser/subscribe-update.ts';
import type { BlockUpdate } from '../../src/protocol/geyser/update/block.ts';
import { ConfirmedBlock } from '../geyser/oracle.ts';
import { messageOf, tailOf } from '../geyser/re-encode.ts';
import { readShape, shapeOf } from '../geyser/shapes.ts';

/** Needs ../shared/data/blocks: mainnet blocks as protobuf solana.storage.ConfirmedBlock. */
const folder = join(import.meta.dirname, '../../../shared/data/blocks');
const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.bincode')) : [];
const AT = encodeTimestamp(1_700_000_000_123n);

/** A recorded block as a stream would tell it. */
function blockOf(bytes: Uint8Array, file: string): BlockUpdate {
  const { transactions, rewards, previousBlockhash, ...block } = decodeConfirmedBlock(
    bytes,
    slotOf(Number.parseInt(file, 10)),
  );
  return {
    kind: 'block',
    slot: block.slot,
    blockhash: block.blockhash,
    rewards,
    numRewardPartitions: block.numRewardPartitions ?? null,
    blockTime: block.blockTime,
    blockHeight: block.blockHeight,
    parentSlot: block.parentSlot,
    parentBlockhash: previousBlockhash,
    executedTransactionCount: transactions.length,
    entriesCount: 0,
    transactions: transactions.map((executed, index) => ({
      signature: executed.transaction.signatures[0]!,
      isVote: false,
      executed,
      index,
    })),
    updatedAccountCount: 0,
    accounts: [],
    entries: [],
  };
}

describe.skipIf(files.length === 0).each(files)('the recorded block %s (../shared/data, blocks)', (file) => {
  const bytes = Uint8Array.from(readFileSync(join(folder, file)));
  const block = blockOf(bytes, file);
  const updates: readonly Update[] = [
    ...block.transactions.map((placed) => ({ kind: 'transaction' as const, slot: block.slot, placed })),
    blockMetaOf(block),
    block,
  ];

  it('is told by a stream with the values that it was read with', () => {
    for (const update of updates) {
      const wire = messageOf(['a'], tailOf(update, AT));
      expect(shapeOf(decodeSubscribeUpdate(wire).update!)).toEqual(shapeOf(update));
      expect(readShape(update.kind, SubscribeUpdate.decode(wire))).toEqual(shapeOf(update));
    }
  });

  it('has token amounts as the node wrote them', () => {
    const theirs = ConfirmedBlock.decode(bytes).transactions.map(({ meta }) => meta!);
    const told = SubscribeUpdate.decode(messageOf([], tailOf(block, AT))).block!.transactions;
    told.forEach(({ meta }, index) => {
      expect(meta!.preTokenBalances).toEqual(theirs[index]!.preTokenBalances.map(completed));
      expect(meta!.postTokenBalances).toEqual(theirs[index]!.postTokenBalances.map(completed));
    });
  });
});

type Balance = NonNullable<
  ReturnType<typeof ConfirmedBlock.decode>['transactions'][number]['meta']
>['preTokenBalances'][number];

/** Old nodes wrote no text beside the number. */
function completed(balance: Balance): unknown {
  const amount = balance.uiTokenAmount!;
  return {
    ...balance,
    uiTokenAmount: { ...amount, uiAmountString: amount.uiAmountString || expect.any(String) },
  };
}

function blockMetaOf(block: BlockUpdate): Update {
  const { transactions: _t, accounts: _a, entries: _e, updatedAccountCount: _u, ...header } = block;
  return { ...header, kind: 'blockMeta' };
}

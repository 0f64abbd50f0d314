import { rawBlockMeta } from '../../protocol/geyser/encode/raw-block-meta.ts';
import { rawSlot } from '../../protocol/geyser/encode/raw-slot.ts';
import { rawTransaction } from '../../protocol/geyser/encode/raw-transaction.ts';
import { encodeTimestamp } from '../../protocol/geyser/encode/timestamp.ts';
import type { RawBlockMeta, RawSlot, RawTransaction } from '../../protocol/geyser/raw-update.ts';
import type { SlotStatus } from '../../protocol/geyser/update/slot.ts';
import type { Block } from '../../solana/block.ts';
import { isSimpleVote } from '../../solana/transaction/simple-vote.ts';

/**
 * What a confirmed block tells of its slot, in order. It knows neither writes of accounts nor entries, and not how
 * many there were.
 */
export function* updatesOf(block: Block): Generator<RawSlot | RawTransaction | RawBlockMeta> {
  const { slot, parentSlot: parent, transactions, previousBlockhash: parentBlockhash } = block;
  const createdAt = encodeTimestamp(BigInt(Date.now()));
  const statusIs = (status: SlotStatus): RawSlot =>
    rawSlot({ kind: 'slot', slot, parent, status, deadError: null }, createdAt);
  yield statusIs('createdBank');
  for (const [index, executed] of transactions.entries()) {
    const signature = executed.transaction.signatures[0];
    if (signature === undefined) continue;
    const isVote = isSimpleVote(executed.transaction);
    yield rawTransaction({ slot, createdAt, info: { signature, isVote, executed, index } });
  }
  const { blockhash, rewards, numRewardPartitions = null, blockTime, blockHeight, parentSlot } = block;
  const executedTransactionCount = transactions.length;
  const header = { slot, blockhash, rewards, numRewardPartitions, blockTime, blockHeight, parentSlot };
  const counts = { parentBlockhash, executedTransactionCount, entriesCount: 0 };
  yield rawBlockMeta({ kind: 'blockMeta', ...header, ...counts }, createdAt, null);
  yield statusIs('processed');
  yield statusIs('confirmed');
}

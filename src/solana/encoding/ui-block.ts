import type { WritableJson } from '../../base/json.ts';
import type { Block } from '../block.ts';
import type { BlockView } from './encodings.ts';
import { encodeRewards } from './ui-meta.ts';
import { encodeTransactionWithMeta } from './ui-transaction.ts';

type EncodedBlock =
  | Readonly<{ json: { readonly [name: string]: WritableJson } }>
  | Readonly<{ unsupportedVersion: number }>;

/**
 * Members are in wire order. Source: `ConfirmedBlock::encode_with_options`.
 * @returns `unsupportedVersion` if the response must be error -32015.
 */
export function encodeBlock(block: Block, view: BlockView): EncodedBlock {
  const shown: WritableJson[] = [];
  if (view.details !== 'none') {
    for (const executed of block.transactions) {
      const encoded = encodeTransactionWithMeta(
        executed,
        view.encoding,
        view.maxVersion,
        view.details,
        view.rewards,
      );
      if ('unsupportedVersion' in encoded) return encoded;
      shown.push(encoded.json);
    }
  }
  return { json: withTransactions(block, view, shown) };
}

function withTransactions(
  block: Block,
  { details, rewards }: BlockView,
  shown: readonly WritableJson[],
): { readonly [name: string]: WritableJson } {
  return {
    blockHeight: block.blockHeight,
    blockTime: block.blockTime,
    blockhash: block.blockhash,
    numRewardPartitions: block.numRewardPartitions,
    parentSlot: block.parentSlot,
    previousBlockhash: block.previousBlockhash,
    rewards: rewards ? encodeRewards(block.rewards) : undefined,
    signatures: details === 'signatures' ? shown : undefined,
    transactions: details === 'full' || details === 'accounts' ? shown : undefined,
  };
}

import type { WritableJson } from '../../base/json.ts';
import type { Block } from '../block.ts';
import { encodeRewards } from './ui-reward.ts';
import {
  encodeTransactionWithMeta,
  type TransactionDetails,
  type TransactionEncoding,
} from './ui-transaction.ts';

/** How a caller wants to see a block and the transactions in it. */
export type BlockView = Readonly<{
  encoding: TransactionEncoding;
  details: TransactionDetails;
  rewards: boolean;
  /** undefined when none was given: legacy transactions only, and no `version` member. */
  maxVersion: number | undefined;
}>;

export type EncodedBlock =
  | Readonly<{ json: { readonly [name: string]: WritableJson } }>
  | Readonly<{ unsupportedVersion: number }>;

/**
 * A block as getBlock and blockSubscribe show it, members in wire order. With details `signatures` it has
 * `signatures` instead of `transactions`, with `none` neither; without rewards no `rewards`.
 *
 * @returns `unsupportedVersion` when the caller does not understand the version of one of its transactions
 * @see transaction-status/src/lib.rs, `ConfirmedBlock::encode_with_options`
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

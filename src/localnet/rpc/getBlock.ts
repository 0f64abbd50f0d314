import type { JsonValue, WritableJson } from '../../base/json.ts';
import type { Block, ExecutedTransaction } from '../../ledger/block.ts';
import { encodeRewards } from '../../ledger/encoding/ui-reward.ts';
import { encodeTransactionWithMeta } from '../../ledger/encoding/ui-transaction.ts';
import { slot as slotOf } from '../../ledger/units.ts';
import { type GetBlockParams, parseGetBlock } from '../../protocol/rpc/getBlock.ts';
import { blockNotAvailable, unsupportedTransactionVersion } from '../../protocol/rpc/history-errors.ts';
import { requireConfirmed } from '../../protocol/rpc/parameters.ts';
import type { LocalNode } from '../node.ts';
import { missingBlock } from './missing-block.ts';

/** Finalized blocks for everyone, younger ones up to the confirmed tip for callers content with `confirmed`. */
function findBlock(node: LocalNode, { slot, commitment }: GetBlockParams): Block {
  const finalized = slot <= node.bank('finalized').slot;
  if (!finalized && (commitment === 'finalized' || slot > node.bank('confirmed').slot)) {
    throw blockNotAvailable(slot);
  }
  const block = node.history.block(slot);
  if (block === null) throw missingBlock(node, slot);
  return block;
}

function encodeExecuted(executed: ExecutedTransaction, params: GetBlockParams): WritableJson {
  const encoded = encodeTransactionWithMeta(
    executed,
    params.encoding,
    params.maxVersion ?? undefined,
    params.details,
    params.rewards,
  );
  if ('unsupportedVersion' in encoded) throw unsupportedTransactionVersion(encoded.unsupportedVersion);
  return encoded.json;
}

function transactionsOf(block: Block, params: GetBlockParams): { readonly [name: string]: WritableJson } {
  switch (params.details) {
    case 'none':
      return {};
    case 'signatures':
      return { signatures: block.transactions.map((executed) => encodeExecuted(executed, params)) };
    default:
      return { transactions: block.transactions.map((executed) => encodeExecuted(executed, params)) };
  }
}

/** A block at or above `confirmed`. */
export function getBlock(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const parsed = parseGetBlock(params);
  requireConfirmed(parsed.commitment);
  const block = findBlock(node, parsed);
  const genesis = block.slot === slotOf(0);
  const { signatures, transactions } = transactionsOf(block, parsed);
  return {
    blockHeight: genesis ? 0n : block.blockHeight,
    blockTime: genesis ? node.genesis.creationTime : block.blockTime,
    blockhash: block.blockhash,
    parentSlot: block.parentSlot,
    previousBlockhash: block.previousBlockhash,
    rewards: parsed.rewards ? encodeRewards(block.rewards) : undefined,
    signatures,
    transactions,
  };
}

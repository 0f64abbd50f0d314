import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { parseGetTransaction } from '../../../../src/protocol/rpc/getTransaction.ts';
import { unsupportedTransactionVersion } from '../../../../src/protocol/rpc/history-errors.ts';
import { requireConfirmed } from '../../../../src/protocol/rpc/parameters.ts';
import type { TransactionEncoding } from '../../../../src/protocol/rpc/transaction-encoding.ts';
import type { Block } from '../../../../src/solana/block.ts';
import { encodeTransactionWithMeta } from '../../../../src/solana/encoding/ui-transaction.ts';
import type { LocalNode } from '../node.ts';

/** `maxVersion` null: legacy only. */
type FullView = Readonly<{ encoding: TransactionEncoding; maxVersion: number | null }>;

/**
 * null without a transaction at the index.
 * @throws RpcError -32015 for an unsupported version.
 */
export function fullTransaction(
  block: Block,
  index: number,
  { encoding, maxVersion }: FullView,
): WritableJson {
  const executed = block.transactions[index];
  if (executed === undefined) return null;
  const encoded = encodeTransactionWithMeta(executed, encoding, maxVersion ?? undefined, 'full');
  if ('unsupportedVersion' in encoded) throw unsupportedTransactionVersion(encoded.unsupportedVersion);
  const { meta, transaction, version } = encoded.json as { readonly [name: string]: WritableJson };
  return {
    blockTime: block.blockTime,
    meta,
    slot: block.slot,
    transaction,
    transactionIndex: index,
    version,
  };
}

/** null when unknown or not confirmed enough. */
export function getTransaction(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const parsed = parseGetTransaction(params);
  requireConfirmed(parsed.commitment);
  const place = node.history.locate(parsed.signature);
  if (place === null || place.slot > node.bank(parsed.commitment).slot) return null;
  const block = node.history.block(place.slot);
  return block && fullTransaction(block, place.index, parsed);
}

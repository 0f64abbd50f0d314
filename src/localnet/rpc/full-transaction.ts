import type { WritableJson } from '../../base/json.ts';
import { unsupportedTransactionVersion } from '../../protocol/rpc/history-errors.ts';
import type { TransactionEncoding } from '../../protocol/rpc/transaction-encoding.ts';
import type { Block } from '../../solana/block.ts';
import { encodeTransactionWithMeta } from '../../solana/encoding/ui-transaction.ts';

/** How a caller wants to see a transaction; `maxVersion` null: legacy ones only. */
export type FullView = Readonly<{ encoding: TransactionEncoding; maxVersion: number | null }>;

/**
 * A transaction of a block with where it stands; null when the block has none at the index.
 * @throws RpcError -32015 when the caller does not understand its version.
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

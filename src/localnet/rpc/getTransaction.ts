import type { JsonValue, WritableJson } from '../../base/json.ts';
import { encodeTransactionWithMeta } from '../../ledger/encoding/ui-transaction.ts';
import { parseGetTransaction } from '../../protocol/rpc/getTransaction.ts';
import { unsupportedTransactionVersion } from '../../protocol/rpc/history-errors.ts';
import { requireConfirmed } from '../../protocol/rpc/parameters.ts';
import type { LocalNode } from '../node.ts';

/** A transaction that is settled enough, or null: also for one that is not yet. */
export function getTransaction(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { signature, encoding, commitment, maxVersion } = parseGetTransaction(params);
  requireConfirmed(commitment);
  const place = node.history.locate(signature);
  if (place === null || place.slot > node.bank(commitment).slot) return null;
  const block = node.history.block(place.slot);
  const executed = block?.transactions[place.index];
  if (block === null || executed === undefined) return null;
  const encoded = encodeTransactionWithMeta(executed, encoding, maxVersion ?? undefined, 'full');
  if ('unsupportedVersion' in encoded) throw unsupportedTransactionVersion(encoded.unsupportedVersion);
  const { meta, transaction, version } = encoded.json as { readonly [name: string]: WritableJson };
  return {
    blockTime: block.blockTime,
    meta,
    slot: block.slot,
    transaction,
    transactionIndex: place.index,
    version,
  };
}

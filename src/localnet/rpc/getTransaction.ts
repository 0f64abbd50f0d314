import type { JsonValue, WritableJson } from '../../base/json.ts';
import { parseGetTransaction } from '../../protocol/rpc/getTransaction.ts';
import { requireConfirmed } from '../../protocol/rpc/parameters.ts';
import type { LocalNode } from '../node.ts';
import { fullTransaction } from './full-transaction.ts';

/** A transaction that is settled enough, or null: also for one that is not yet. */
export function getTransaction(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const parsed = parseGetTransaction(params);
  requireConfirmed(parsed.commitment);
  const place = node.history.locate(parsed.signature);
  if (place === null || place.slot > node.bank(parsed.commitment).slot) return null;
  const block = node.history.block(place.slot);
  return block && fullTransaction(block, place.index, parsed);
}

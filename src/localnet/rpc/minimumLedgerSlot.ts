import type { JsonValue } from '../../base/json.ts';
import { noParameters } from '../../protocol/rpc/parameters.ts';
import type { Slot } from '../../solana/units.ts';
import type { LocalNode } from '../node.ts';

export function minimumLedgerSlot(node: LocalNode, params: JsonValue | undefined): Slot {
  noParameters(params);
  return node.history.firstAvailableSlot;
}

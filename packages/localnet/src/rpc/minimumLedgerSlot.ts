import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';

export function minimumLedgerSlot(node: LocalNode, params: JsonValue | undefined): Slot {
  noParameters(params);
  return node.history.firstAvailableSlot;
}

import type { JsonValue } from '../../base/json.ts';
import { noParameters } from '../../protocol/rpc/parameters.ts';
import type { Slot } from '../../solana/units.ts';
import type { LocalNode } from '../node.ts';

/** The newest complete slot. */
export function getMaxRetransmitSlot(node: LocalNode, params: JsonValue | undefined): Slot {
  noParameters(params);
  return node.bank('processed').slot;
}

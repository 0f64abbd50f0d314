import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetMaxRetransmitSlotResult,
  parseGetMaxRetransmitSlot,
} from '../../../../src/protocol/rpc/getMaxRetransmitSlot.ts';
import type { LocalNode } from '../node.ts';

/** The newest complete slot. */
export function getMaxRetransmitSlot(
  node: LocalNode,
  params: JsonValue | undefined,
): GetMaxRetransmitSlotResult {
  parseGetMaxRetransmitSlot(params);
  return node.bank('processed').slot;
}

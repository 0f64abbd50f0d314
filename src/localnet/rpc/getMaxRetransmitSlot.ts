import type { JsonValue } from '../../base/json.ts';
import {
  type GetMaxRetransmitSlotResult,
  parseGetMaxRetransmitSlot,
} from '../../protocol/rpc/getMaxRetransmitSlot.ts';
import type { LocalNode } from '../node.ts';

/** The newest slot that is whole: there is nobody who would have to wait for it. */
export function getMaxRetransmitSlot(
  node: LocalNode,
  params: JsonValue | undefined,
): GetMaxRetransmitSlotResult {
  parseGetMaxRetransmitSlot(params);
  return node.bank('processed').slot;
}

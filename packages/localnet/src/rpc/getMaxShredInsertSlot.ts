import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetMaxShredInsertSlotResult,
  parseGetMaxShredInsertSlot,
} from '../../../../src/protocol/rpc/getMaxShredInsertSlot.ts';
import type { LocalNode } from '../node.ts';

/** The newest complete slot. */
export function getMaxShredInsertSlot(
  node: LocalNode,
  params: JsonValue | undefined,
): GetMaxShredInsertSlotResult {
  parseGetMaxShredInsertSlot(params);
  return node.bank('processed').slot;
}

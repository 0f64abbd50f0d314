import type { JsonValue } from '../../base/json.ts';
import {
  type GetFirstAvailableBlockResult,
  parseGetFirstAvailableBlock,
} from '../../protocol/rpc/getFirstAvailableBlock.ts';
import type { LocalNode } from '../node.ts';

/** The oldest slot whose block is still there. */
export function getFirstAvailableBlock(
  node: LocalNode,
  params: JsonValue | undefined,
): GetFirstAvailableBlockResult {
  parseGetFirstAvailableBlock(params);
  return node.history.firstAvailableSlot;
}

import type { JsonValue } from '../../base/json.ts';
import {
  type GetFirstAvailableBlockResult,
  parseGetFirstAvailableBlock,
} from '../../protocol/rpc/getFirstAvailableBlock.ts';
import type { LocalNode } from '../node.ts';

export function getFirstAvailableBlock(
  node: LocalNode,
  params: JsonValue | undefined,
): GetFirstAvailableBlockResult {
  parseGetFirstAvailableBlock(params);
  return node.history.firstAvailableSlot;
}

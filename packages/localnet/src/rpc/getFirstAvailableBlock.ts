import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetFirstAvailableBlockResult,
  parseGetFirstAvailableBlock,
} from '../../../../src/protocol/rpc/getFirstAvailableBlock.ts';
import type { LocalNode } from '../node.ts';

export function getFirstAvailableBlock(
  node: LocalNode,
  params: JsonValue | undefined,
): GetFirstAvailableBlockResult {
  parseGetFirstAvailableBlock(params);
  return node.history.firstAvailableSlot;
}

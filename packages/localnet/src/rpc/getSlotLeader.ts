import type { JsonValue } from '../../../../src/base/json.ts';
import { type GetSlotLeaderResult, parseGetSlotLeader } from '../../../../src/protocol/rpc/getSlotLeader.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

export function getSlotLeader(node: LocalNode, params: JsonValue | undefined): GetSlotLeaderResult {
  bankFor(node, parseGetSlotLeader(params).config);
  return node.genesis.identity;
}

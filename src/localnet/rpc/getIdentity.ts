import type { JsonValue } from '../../base/json.ts';
import { type GetIdentityResult, parseGetIdentity } from '../../protocol/rpc/getIdentity.ts';
import type { LocalNode } from '../node.ts';

export function getIdentity(node: LocalNode, params: JsonValue | undefined): GetIdentityResult {
  parseGetIdentity(params);
  return { identity: node.genesis.identity };
}

import type { JsonValue } from '../../../../src/base/json.ts';
import { type GetIdentityResult, parseGetIdentity } from '../../../../src/protocol/rpc/getIdentity.ts';
import type { LocalNode } from '../node.ts';

export function getIdentity(node: LocalNode, params: JsonValue | undefined): GetIdentityResult {
  parseGetIdentity(params);
  return { identity: node.genesis.identity };
}

import type { JsonValue } from '../../base/json.ts';
import { noParameters } from '../../protocol/rpc/parameters.ts';
import type { Address } from '../../solana/address.ts';
import type { LocalNode } from '../node.ts';

/** The node's own key. */
type GetIdentityResult = Readonly<{ identity: Address }>;

export function getIdentity(node: LocalNode, params: JsonValue | undefined): GetIdentityResult {
  noParameters(params);
  return { identity: node.genesis.identity };
}

import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { LocalNode } from '../node.ts';

/** The node's own key. */
type GetIdentityResult = Readonly<{ identity: Address }>;

export function getIdentity(node: LocalNode, params: JsonValue | undefined): GetIdentityResult {
  noParameters(params);
  return { identity: node.genesis.identity };
}

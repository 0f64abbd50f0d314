import type { JsonValue } from '../../../../src/base/json.ts';
import { noParameters } from '../../../../src/protocol/rpc/parameters.ts';
import type { Blockhash } from '../../../../src/solana/blockhash.ts';
import type { LocalNode } from '../node.ts';

export function getGenesisHash(node: LocalNode, params: JsonValue | undefined): Blockhash {
  noParameters(params);
  return node.genesis.hash;
}

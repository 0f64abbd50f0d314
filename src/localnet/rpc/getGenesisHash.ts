import type { JsonValue } from '../../base/json.ts';
import { noParameters } from '../../protocol/rpc/parameters.ts';
import type { Blockhash } from '../../solana/blockhash.ts';
import type { LocalNode } from '../node.ts';

export function getGenesisHash(node: LocalNode, params: JsonValue | undefined): Blockhash {
  noParameters(params);
  return node.genesis.hash;
}

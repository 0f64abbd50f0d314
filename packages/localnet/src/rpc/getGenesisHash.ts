import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetGenesisHashResult,
  parseGetGenesisHash,
} from '../../../../src/protocol/rpc/getGenesisHash.ts';
import type { LocalNode } from '../node.ts';

export function getGenesisHash(node: LocalNode, params: JsonValue | undefined): GetGenesisHashResult {
  parseGetGenesisHash(params);
  return node.genesis.hash;
}

import type { JsonValue } from '../../../../src/base/json.ts';
import { readOnlyContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import type { Address } from '../../../../src/solana/address.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

export function getSlotLeader(node: LocalNode, params: JsonValue | undefined): Address {
  bankFor(node, readOnlyContextConfig(params));
  return node.genesis.identity;
}

import type { JsonValue } from '../../../../src/base/json.ts';
import { readOnlyContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

export const getBlockHeight = (node: LocalNode, params: JsonValue | undefined): bigint =>
  bankFor(node, readOnlyContextConfig(params)).blockHeight;

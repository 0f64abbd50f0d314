import type { JsonValue } from '../../../../src/base/json.ts';
import { readOnlyContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

/** Since genesis. */
export const getTransactionCount = (node: LocalNode, params: JsonValue | undefined): bigint =>
  bankFor(node, readOnlyContextConfig(params)).transactionCount;

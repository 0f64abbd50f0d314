import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetTransactionCountResult,
  parseGetTransactionCount,
} from '../../../../src/protocol/rpc/getTransactionCount.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

/** Since genesis. */
export const getTransactionCount = (
  node: LocalNode,
  params: JsonValue | undefined,
): GetTransactionCountResult => bankFor(node, parseGetTransactionCount(params).config).transactionCount;

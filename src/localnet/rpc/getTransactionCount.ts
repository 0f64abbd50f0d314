import type { JsonValue } from '../../base/json.ts';
import {
  type GetTransactionCountResult,
  parseGetTransactionCount,
} from '../../protocol/rpc/getTransactionCount.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

/** Since genesis. */
export const getTransactionCount = (
  node: LocalNode,
  params: JsonValue | undefined,
): GetTransactionCountResult => bankFor(node, parseGetTransactionCount(params).config).transactionCount;

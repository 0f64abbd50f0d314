import type { JsonValue } from '../../../../src/base/json.ts';
import {
  type GetBlockHeightResult,
  parseGetBlockHeight,
} from '../../../../src/protocol/rpc/getBlockHeight.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

export const getBlockHeight = (node: LocalNode, params: JsonValue | undefined): GetBlockHeightResult =>
  bankFor(node, parseGetBlockHeight(params).config).blockHeight;

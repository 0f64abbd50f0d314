import type { JsonValue } from '../../../../src/base/json.ts';
import { type GetSlotResult, parseGetSlot } from '../../../../src/protocol/rpc/getSlot.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

export const getSlot = (node: LocalNode, params: JsonValue | undefined): GetSlotResult =>
  bankFor(node, parseGetSlot(params).config).slot;

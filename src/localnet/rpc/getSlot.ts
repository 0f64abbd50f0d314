import type { JsonValue } from '../../base/json.ts';
import { readOnlyContextConfig } from '../../protocol/rpc/parameters.ts';
import type { Slot } from '../../solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

export const getSlot = (node: LocalNode, params: JsonValue | undefined): Slot =>
  bankFor(node, readOnlyContextConfig(params)).slot;

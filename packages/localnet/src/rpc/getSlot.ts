import type { JsonValue } from '../../../../src/base/json.ts';
import { readOnlyContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import type { Slot } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor } from './context.ts';

export const getSlot = (node: LocalNode, params: JsonValue | undefined): Slot =>
  bankFor(node, readOnlyContextConfig(params)).slot;

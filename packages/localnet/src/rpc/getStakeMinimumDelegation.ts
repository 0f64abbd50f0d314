import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { readOnlyContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import { type Lamports, lamports } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';

/** 1 SOL, as returned by the stake program's GetMinimumDelegation. */
const MINIMUM_DELEGATION: Lamports = lamports(1_000_000_000);

export const getStakeMinimumDelegation = (node: LocalNode, params: JsonValue | undefined): WritableJson =>
  withContext(bankFor(node, readOnlyContextConfig(params)), MINIMUM_DELEGATION);

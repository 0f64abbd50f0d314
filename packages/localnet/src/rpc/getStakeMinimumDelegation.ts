import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  type GetStakeMinimumDelegationResult,
  parseGetStakeMinimumDelegation,
} from '../../../../src/protocol/rpc/getStakeMinimumDelegation.ts';
import { lamports } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';

/** 1 SOL, as the stake program's GetMinimumDelegation. */
const MINIMUM_DELEGATION: GetStakeMinimumDelegationResult = lamports(1_000_000_000);

export const getStakeMinimumDelegation = (node: LocalNode, params: JsonValue | undefined): WritableJson =>
  withContext(bankFor(node, parseGetStakeMinimumDelegation(params).config), MINIMUM_DELEGATION);

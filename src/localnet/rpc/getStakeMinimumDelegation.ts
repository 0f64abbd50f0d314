import type { JsonValue, WritableJson } from '../../base/json.ts';
import { lamports } from '../../ledger/units.ts';
import {
  type GetStakeMinimumDelegationResult,
  parseGetStakeMinimumDelegation,
} from '../../protocol/rpc/getStakeMinimumDelegation.ts';
import type { LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';

/** What the embedded stake program asks for. Source: solana-program/stake `get_minimum_delegation`. */
const MINIMUM_DELEGATION: GetStakeMinimumDelegationResult = lamports(1);

/** The least that may be delegated. */
export const getStakeMinimumDelegation = (node: LocalNode, params: JsonValue | undefined): WritableJson =>
  withContext(bankFor(node, parseGetStakeMinimumDelegation(params).config), MINIMUM_DELEGATION);

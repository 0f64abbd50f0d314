import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { type GetBalanceResult, parseGetBalance } from '../../../../src/protocol/rpc/getBalance.ts';
import { lamports } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';

/** 0 without account. */
export function getBalance(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { address, config } = parseGetBalance(params);
  const bank = bankFor(node, config);
  const value: GetBalanceResult = bank.account(address)?.lamports ?? lamports(0);
  return withContext(bank, value);
}

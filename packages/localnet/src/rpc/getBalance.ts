import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional, readAddress, readContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import { readString } from '../../../../src/protocol/rpc/serde.ts';
import { type Lamports, lamports } from '../../../../src/solana/units.ts';
import type { LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';

/** `pubkey, {commitment, minContextSlot}`. */
export function parseGetBalance(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = readContextConfig(list[1]);
  return { address: readAddress(text), config };
}

/** 0 if the account does not exist. */
export function getBalance(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { address, config } = parseGetBalance(params);
  const bank = bankFor(node, config);
  const value: Lamports = bank.account(address)?.lamports ?? lamports(0);
  return withContext(bank, value);
}

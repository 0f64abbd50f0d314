import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional, readAccountConfig, readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import { readString } from '../../../../src/protocol/rpc/serde.ts';
import type { LocalNode } from '../node.ts';
import { accountJson, viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';

/** `pubkey, {encoding, dataSlice, commitment, minContextSlot}`. */
export function parseGetAccountInfo(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = readAccountConfig(list[1]);
  return { address: readAddress(text), config };
}

export function getAccountInfo(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { address, config } = parseGetAccountInfo(params);
  const bank = bankFor(node, config);
  const account = bank.account(address);
  return withContext(bank, account && accountJson(address, account, viewOf(bank, config, 'binary')));
}

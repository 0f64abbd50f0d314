import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  at,
  limitInputs,
  positional,
  readAccountConfig,
  readAddress,
} from '../../../../src/protocol/rpc/parameters.ts';
import { readStrings } from '../../../../src/protocol/rpc/serde.ts';
import type { LocalNode } from '../node.ts';
import { accountJson, viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';

/** Source: Agave `MAX_MULTIPLE_ACCOUNTS`. */
const ADDRESSES_MAX = 100;

/** `[pubkeys], {encoding, dataSlice, commitment, minContextSlot}`. */
export function parseGetMultipleAccounts(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const texts = at(list, 0, readStrings);
  const config = readAccountConfig(list[1]);
  limitInputs(texts, ADDRESSES_MAX);
  return { addresses: texts.map(readAddress), config };
}

export function getMultipleAccounts(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { addresses, config } = parseGetMultipleAccounts(params);
  const bank = bankFor(node, config);
  const view = viewOf(bank, config, 'base64');
  const accounts = addresses.map((address) => {
    const account = bank.account(address);
    return account && accountJson(address, account, view);
  });
  return withContext(bank, accounts);
}

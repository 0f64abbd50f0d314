import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { parseGetMultipleAccounts } from '../../../../src/protocol/rpc/getMultipleAccounts.ts';
import type { LocalNode } from '../node.ts';
import { accountJson, viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';

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

import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { parseGetTokenAccountsByDelegate } from '../../../../src/protocol/rpc/getTokenAccountsByDelegate.ts';
import type { LocalNode } from '../node.ts';
import { keyedTokenAccounts, sortedByAddress, viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';
import { accountsOf } from './token-mint.ts';

export function getTokenAccountsByDelegate(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { delegate, filter, config } = parseGetTokenAccountsByDelegate(params);
  const bank = bankFor(node, config);
  const isWanted = accountsOf(bank, filter);
  const found = [...bank.tokenAccountsByDelegate(delegate)].filter(([, account]) => isWanted(account));
  return withContext(bank, keyedTokenAccounts(sortedByAddress(found), viewOf(bank, config, 'binary')));
}

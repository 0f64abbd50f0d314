import type { JsonValue, WritableJson } from '../../base/json.ts';
import { parseGetTokenAccountsByDelegate } from '../../protocol/rpc/getTokenAccountsByDelegate.ts';
import type { LocalNode } from '../node.ts';
import { viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';
import { keyedTokenAccounts, sortedByAddress } from './keyed-accounts.ts';
import { accountsOf } from './token-mint.ts';

/** The token accounts whose tokens a delegate may spend. */
export function getTokenAccountsByDelegate(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { delegate, filter, config } = parseGetTokenAccountsByDelegate(params);
  const bank = bankFor(node, config);
  const isWanted = accountsOf(bank, filter);
  const found = [...bank.tokenAccountsByDelegate(delegate)].filter(([, account]) => isWanted(account));
  return withContext(bank, keyedTokenAccounts(sortedByAddress(found), viewOf(bank, config, 'binary')));
}

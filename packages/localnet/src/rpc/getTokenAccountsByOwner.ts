import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { parseGetTokenAccountsByOwner } from '../../../../src/protocol/rpc/getTokenAccountsByOwner.ts';
import type { LocalNode } from '../node.ts';
import { keyedTokenAccounts, sortedByAddress, viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';
import { accountsOf } from './token-mint.ts';

export function getTokenAccountsByOwner(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { owner, filter, config } = parseGetTokenAccountsByOwner(params);
  const bank = bankFor(node, config);
  const isWanted = accountsOf(bank, filter);
  const found = [...bank.tokenAccountsByOwner(owner)].filter(([, account]) => isWanted(account));
  return withContext(bank, keyedTokenAccounts(sortedByAddress(found), viewOf(bank, config, 'binary')));
}

import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional, readAccountConfig, readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import { readString } from '../../../../src/protocol/rpc/serde.ts';
import type { LocalNode } from '../node.ts';
import { keyedTokenAccounts, sortedByAddress, viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';
import { readTokenFilter, verifyTokenFilter } from './token-filter.ts';
import { accountsOf } from './token-mint.ts';

/** `owner, {mint} | {programId}, {encoding, dataSlice, commitment, minContextSlot}`. */
export function parseGetTokenAccountsByOwner(params: JsonValue | undefined) {
  const list = positional(params, 2, 3);
  const text = at(list, 0, readString);
  const filter = at(list, 1, readTokenFilter);
  const config = readAccountConfig(list[2]);
  return { owner: readAddress(text), filter: verifyTokenFilter(filter), config };
}

export function getTokenAccountsByOwner(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { owner, filter, config } = parseGetTokenAccountsByOwner(params);
  const bank = bankFor(node, config);
  const isWanted = accountsOf(bank, filter);
  const found = [...bank.tokenAccountsByOwner(owner)].filter(([, account]) => isWanted(account));
  return withContext(bank, keyedTokenAccounts(sortedByAddress(found), viewOf(bank, config, 'binary')));
}

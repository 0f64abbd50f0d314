import type { JsonValue, WritableJson } from '../../base/json.ts';
import { passes } from '../../protocol/rpc/account-passes.ts';
import {
  type GetProgramAccountsParams,
  parseGetProgramAccounts,
} from '../../protocol/rpc/getProgramAccounts.ts';
import { isTokenProgram } from '../../solana/programs.ts';
import type { Bank, LocalNode } from '../node.ts';
import { searchFilters } from './account-filter.ts';
import { viewOf } from './account-view.ts';
import { bankFor, withContext } from './context.ts';
import { type KeyedAccount, keyedAccounts, keyedTokenAccounts, sortedByAddress } from './keyed-accounts.ts';

function find(bank: Bank, wanted: GetProgramAccountsParams): KeyedAccount[] {
  const { program, sortResults } = wanted;
  const filters = searchFilters(program, wanted.filters);
  const found: KeyedAccount[] = [];
  for (const keyed of bank.accountsByOwner(program)) {
    if (filters.every((filter) => passes(filter, keyed[1]))) found.push(keyed);
  }
  return sortResults ? sortedByAddress(found) : found;
}

/** The accounts a program owns. */
export function getProgramAccounts(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const wanted = parseGetProgramAccounts(params);
  const { program, config } = wanted;
  const bank = bankFor(node, config);
  const view = viewOf(bank, config, 'binary');
  const found = (isTokenProgram(program) ? keyedTokenAccounts : keyedAccounts)(find(bank, wanted), view);
  return wanted.withContext ? withContext(bank, found) : found;
}

import type { KeyedAccountJson } from '../../protocol/rpc/account-json.ts';
import type { Account } from '../../solana/account/account.ts';
import { type Address, compareAddresses } from '../../solana/address.ts';
import { type AccountView, accountJson } from './account-view.ts';

export type KeyedAccount = readonly [Address, Account];

/** Accounts by the bytes of their addresses. */
export const sortedByAddress = (accounts: Iterable<KeyedAccount>): KeyedAccount[] =>
  [...accounts].sort(([a], [b]) => compareAddresses(a, b));

/** Accounts with their addresses. */
export const keyedAccounts = (accounts: readonly KeyedAccount[], view: AccountView): KeyedAccountJson[] =>
  accounts.map(([pubkey, account]) => ({ account: accountJson(pubkey, account, view), pubkey }));

/** Accounts of a token program: under `jsonParsed`, those that do not parse are left out, as in Agave. */
export function keyedTokenAccounts(accounts: readonly KeyedAccount[], view: AccountView): KeyedAccountJson[] {
  const keyed = keyedAccounts(accounts, view);
  if (view.encoding !== 'jsonParsed') return keyed;
  return keyed.filter(({ account }) => !Array.isArray(account.data));
}

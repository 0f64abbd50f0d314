import type { AccountConfig } from '../../../../src/protocol/rpc/parameters.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, compareAddresses } from '../../../../src/solana/address.ts';
import type { AccountEncoding, DataSlice } from '../../../../src/solana/encoding/encodings.ts';
import { Base58TooLong, encodeAccount } from '../../../../src/solana/encoding/ui-account.ts';
import type { AccountLookup } from '../../../../src/solana/parsed/account/parsed-account.ts';
import type { MintScale } from '../../../../src/solana/token/ui-amount.ts';
import type { Bank } from '../node.ts';
import type { AccountJson, KeyedAccountJson } from './account-json.ts';
import { findMint } from './token-mint.ts';

type AccountView = Readonly<{
  encoding: AccountEncoding;
  dataSlice: DataSlice | null;
  /** Mint lookup for token accounts. */
  lookup: AccountLookup;
}>;

/** Each mint is looked up once. */
export function mintsOf(bank: Bank): AccountLookup {
  const found = new Map<Address, MintScale | null>();
  const mint = (address: Address): MintScale | null => {
    const known = found.get(address);
    if (known !== undefined) return known;
    const scale = findMint(bank, address)?.scale ?? null;
    found.set(address, scale);
    return scale;
  };
  return { mint, unixTimestamp: bank.clock.unixTimestamp };
}

/** @param encoding - default of the method. */
export const viewOf = (bank: Bank, config: AccountConfig, encoding: AccountEncoding): AccountView => ({
  encoding: config.encoding ?? encoding,
  dataSlice: config.dataSlice,
  lookup: mintsOf(bank),
});

/** @throws RpcError -32600 for base58 beyond 128 bytes. */
export function accountJson(address: Address, account: Account, view: AccountView): AccountJson {
  try {
    return encodeAccount(address, account, view.encoding, view.dataSlice, view.lookup) as AccountJson;
  } catch (error) {
    if (error instanceof Base58TooLong) throw new RpcError(-32600, error.message);
    throw error;
  }
}

export type KeyedAccount = readonly [Address, Account];

export const sortedByAddress = (accounts: Iterable<KeyedAccount>): KeyedAccount[] =>
  [...accounts].sort(([a], [b]) => compareAddresses(a, b));

export const keyedAccounts = (accounts: readonly KeyedAccount[], view: AccountView): KeyedAccountJson[] =>
  accounts.map(([pubkey, account]) => ({ account: accountJson(pubkey, account, view), pubkey }));

/** With `jsonParsed`, accounts that cannot be parsed are omitted, as in Agave. */
export function keyedTokenAccounts(accounts: readonly KeyedAccount[], view: AccountView): KeyedAccountJson[] {
  const keyed = keyedAccounts(accounts, view);
  if (view.encoding !== 'jsonParsed') return keyed;
  return keyed.filter(({ account }) => !Array.isArray(account.data));
}

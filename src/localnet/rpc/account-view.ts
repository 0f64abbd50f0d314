import type { AccountJson } from '../../protocol/rpc/account-json.ts';
import type { AccountConfig } from '../../protocol/rpc/parameters.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import {
  type AccountEncoding,
  Base58TooLong,
  type DataSlice,
  encodeAccount,
} from '../../solana/encoding/ui-account.ts';
import type { AccountLookup } from '../../solana/parsed/account/parsed-account.ts';
import type { MintScale } from '../../solana/token/extensions.ts';
import type { Bank } from '../node.ts';
import { findMint } from './token-mint.ts';

/** How a caller wants to see the accounts of one answer. */
export type AccountView = Readonly<{
  encoding: AccountEncoding;
  dataSlice: DataSlice | null;
  /** Where parsing a token account finds its mint. */
  lookup: AccountLookup;
}>;

/** Mints of a bank, each looked up once. */
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

/** The view a config asks for; `encoding` is the method's default. */
export const viewOf = (bank: Bank, config: AccountConfig, encoding: AccountEncoding): AccountView => ({
  encoding: config.encoding ?? encoding,
  dataSlice: config.dataSlice,
  lookup: mintsOf(bank),
});

/**
 * An account as the caller wants it.
 * @throws RpcError -32600 when base58 is asked for more than 128 bytes.
 */
export function accountJson(address: Address, account: Account, view: AccountView): AccountJson {
  try {
    return encodeAccount(address, account, view.encoding, view.dataSlice, view.lookup) as AccountJson;
  } catch (error) {
    if (error instanceof Base58TooLong) throw new RpcError(-32600, error.message);
    throw error;
  }
}

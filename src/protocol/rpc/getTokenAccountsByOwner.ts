import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type AccountConfig, at, positional, readAccountConfig, readAddress } from './parameters.ts';
import { readString } from './serde.ts';
import { readTokenFilter, type TokenFilter, verifyTokenFilter } from './token-filter.ts';

export type GetTokenAccountsByOwnerParams = Readonly<{
  owner: Address;
  filter: TokenFilter<Address>;
  config: AccountConfig;
}>;

/** `owner, {mint} | {programId}, {encoding, dataSlice, commitment, minContextSlot}`. */
export function parseGetTokenAccountsByOwner(params: JsonValue | undefined): GetTokenAccountsByOwnerParams {
  const list = positional(params, 2, 3);
  const text = at(list, 0, readString);
  const filter = at(list, 1, readTokenFilter);
  const config = readAccountConfig(list[2]);
  return { owner: readAddress(text), filter: verifyTokenFilter(filter), config };
}

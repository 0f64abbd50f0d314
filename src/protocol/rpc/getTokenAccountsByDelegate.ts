import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type AccountConfig, at, positional, readAccountConfig, readAddress } from './parameters.ts';
import { readString } from './serde.ts';
import { readTokenFilter, type TokenFilter, verifyTokenFilter } from './token-filter.ts';

export type GetTokenAccountsByDelegateParams = Readonly<{
  delegate: Address;
  filter: TokenFilter<Address>;
  config: AccountConfig;
}>;

/** `delegate, {mint} | {programId}, {encoding, dataSlice, commitment, minContextSlot}`. */
export function parseGetTokenAccountsByDelegate(
  params: JsonValue | undefined,
): GetTokenAccountsByDelegateParams {
  const list = positional(params, 2, 3);
  const text = at(list, 0, readString);
  const filter = at(list, 1, readTokenFilter);
  const config = readAccountConfig(list[2]);
  return { delegate: readAddress(text), filter: verifyTokenFilter(filter), config };
}

import type { JsonValue } from '../../../../src/base/json.ts';
import { readAddress } from '../../../../src/protocol/rpc/parameters.ts';
import { payloadOf, readString, readTagged } from '../../../../src/protocol/rpc/serde.ts';
import type { Address } from '../../../../src/solana/address.ts';

/** Selects token accounts of one mint or of one token program. Source: Agave `RpcTokenAccountsFilter`. */
export type TokenFilter<Key extends string> = Readonly<{ by: 'mint' | 'programId'; key: Key }>;

/** `{mint}` or `{programId}`, with the address still as text. */
export function readTokenFilter(value: JsonValue): TokenFilter<string> {
  const tagged = readTagged(value, ['mint', 'programId']);
  return { by: tagged.variant, key: payloadOf(tagged, readString) };
}

/** The filter with its parsed address. */
export const verifyTokenFilter = (filter: TokenFilter<string>): TokenFilter<Address> => ({
  by: filter.by,
  key: readAddress(filter.key),
});

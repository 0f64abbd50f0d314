import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Commitment } from '../commitment.ts';
import { at, positional, readAddress, readStrictCommitment } from './parameters.ts';
import { readString } from './serde.ts';
import type { TokenAmount } from './token-amount.ts';

export type GetTokenLargestAccountsParams = Readonly<{ address: Address; commitment: Commitment }>;
/** At most 20, the largest first; inside a context. */
export type GetTokenLargestAccountsResult = readonly (TokenAmount & Readonly<{ address: Address }>)[];

/** `mint, {commitment}`; the config is strict. */
export function parseGetTokenLargestAccounts(params: JsonValue | undefined): GetTokenLargestAccountsParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const commitment = readStrictCommitment(list[1]);
  return { address: readAddress(text), commitment };
}

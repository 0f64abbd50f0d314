import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Commitment } from '../commitment.ts';
import { at, positional, readAddress, readStrictCommitment } from './parameters.ts';
import { readString } from './serde.ts';

export type GetTokenAccountBalanceParams = Readonly<{ address: Address; commitment: Commitment }>;

/** `tokenAccount, {commitment}`; the config is strict. */
export function parseGetTokenAccountBalance(params: JsonValue | undefined): GetTokenAccountBalanceParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const commitment = readStrictCommitment(list[1]);
  return { address: readAddress(text), commitment };
}

import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Commitment } from '../commitment.ts';
import { at, positional, readAddress, readStrictCommitment } from './parameters.ts';
import { readString } from './serde.ts';

export type GetTokenSupplyParams = Readonly<{ address: Address; commitment: Commitment }>;

/** `mint, {commitment}`; the config is strict. */
export function parseGetTokenSupply(params: JsonValue | undefined): GetTokenSupplyParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const commitment = readStrictCommitment(list[1]);
  return { address: readAddress(text), commitment };
}

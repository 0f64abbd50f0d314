import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { type AccountConfig, at, positional, readAccountConfig, readAddress } from './parameters.ts';
import { readString } from './serde.ts';

export type GetAccountInfoParams = Readonly<{ address: Address; config: AccountConfig }>;

/** `pubkey, {encoding, dataSlice, commitment, minContextSlot}`. */
export function parseGetAccountInfo(params: JsonValue | undefined): GetAccountInfoParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = readAccountConfig(list[1]);
  return { address: readAddress(text), config };
}

import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import {
  type AccountConfig,
  at,
  limitInputs,
  positional,
  readAccountConfig,
  readAddress,
} from './parameters.ts';
import { readStrings } from './serde.ts';

/** Source: Agave `MAX_MULTIPLE_ACCOUNTS`. */
export const ADDRESSES_MAX = 100;

export type GetMultipleAccountsParams = Readonly<{ addresses: readonly Address[]; config: AccountConfig }>;

/** `[pubkeys], {encoding, dataSlice, commitment, minContextSlot}`. */
export function parseGetMultipleAccounts(params: JsonValue | undefined): GetMultipleAccountsParams {
  const list = positional(params, 1, 2);
  const texts = at(list, 0, readStrings);
  const config = readAccountConfig(list[1]);
  limitInputs(texts, ADDRESSES_MAX);
  return { addresses: texts.map(readAddress), config };
}

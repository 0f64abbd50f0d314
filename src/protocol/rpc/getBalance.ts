import type { JsonValue } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import type { Lamports } from '../../solana/units.ts';
import { at, type ContextConfig, positional, readAddress, readContextConfig } from './parameters.ts';
import { readString } from './serde.ts';

export type GetBalanceParams = Readonly<{ address: Address; config: ContextConfig }>;
export type GetBalanceResult = Lamports;

/** `pubkey, {commitment, minContextSlot}`. */
export function parseGetBalance(params: JsonValue | undefined): GetBalanceParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = readContextConfig(list[1]);
  return { address: readAddress(text), config };
}

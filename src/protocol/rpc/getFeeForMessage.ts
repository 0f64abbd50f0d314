import type { JsonValue } from '../../base/json.ts';
import type { Lamports } from '../../solana/units.ts';
import { at, type ContextConfig, positional, readContextConfig } from './parameters.ts';
import { readString } from './serde.ts';

/** `data` is base64 of a message. */
export type GetFeeForMessageParams = Readonly<{ data: string; config: ContextConfig }>;
/** null when the blockhash is unknown. */
export type GetFeeForMessageResult = Lamports | null;

/** `message, {commitment, minContextSlot}`. */
export function parseGetFeeForMessage(params: JsonValue | undefined): GetFeeForMessageParams {
  const list = positional(params, 1, 2);
  return { data: at(list, 0, readString), config: readContextConfig(list[1]) };
}

import type { JsonValue } from '../../base/json.ts';
import { type Blockhash, parseBlockhash } from '../../solana/blockhash.ts';
import { invalidParams } from '../rpc-error.ts';
import { at, type ContextConfig, positional, readContextConfig } from './parameters.ts';
import { readString } from './serde.ts';

export type IsBlockhashValidParams = Readonly<{ blockhash: Blockhash; config: ContextConfig }>;
export type IsBlockhashValidResult = boolean;

/** `blockhash, {commitment, minContextSlot}`. Its faults lack the "Invalid param:" of other methods. */
export function parseIsBlockhashValid(params: JsonValue | undefined): IsBlockhashValidParams {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = readContextConfig(list[1]);
  const parsed = parseBlockhash(text);
  if ('fault' in parsed) throw invalidParams(parsed.fault);
  return { blockhash: parsed.blockhash, config };
}

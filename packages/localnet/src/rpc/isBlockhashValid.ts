import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import { at, positional, readContextConfig } from '../../../../src/protocol/rpc/parameters.ts';
import { readString } from '../../../../src/protocol/rpc/serde.ts';
import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import { parseBlockhash } from '../../../../src/solana/blockhash.ts';
import type { LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';

/** `blockhash, {commitment, minContextSlot}`. Its errors lack the prefix "Invalid param:" of other methods. */
export function parseIsBlockhashValid(params: JsonValue | undefined) {
  const list = positional(params, 1, 2);
  const text = at(list, 0, readString);
  const config = readContextConfig(list[1]);
  const parsed = parseBlockhash(text);
  if ('fault' in parsed) throw invalidParams(parsed.fault);
  return { blockhash: parsed.blockhash, config };
}

export function isBlockhashValid(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { blockhash, config } = parseIsBlockhashValid(params);
  const bank = bankFor(node, config);
  const value: boolean = bank.isBlockhashValid(blockhash);
  return withContext(bank, value);
}

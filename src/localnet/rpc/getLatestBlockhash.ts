import type { JsonValue, WritableJson } from '../../base/json.ts';
import {
  type GetLatestBlockhashResult,
  parseGetLatestBlockhash,
} from '../../protocol/rpc/getLatestBlockhash.ts';
import type { LocalNode } from '../node.ts';
import { latestBlockhash } from './blockhash-lifetime.ts';
import { bankFor, withContext } from './context.ts';

/** The newest blockhash and how long it lives. */
export function getLatestBlockhash(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const bank = bankFor(node, parseGetLatestBlockhash(params).config);
  const value: GetLatestBlockhashResult = latestBlockhash(bank);
  return withContext(bank, value);
}

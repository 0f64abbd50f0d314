import type { JsonValue, WritableJson } from '../../../../src/base/json.ts';
import {
  type IsBlockhashValidResult,
  parseIsBlockhashValid,
} from '../../../../src/protocol/rpc/isBlockhashValid.ts';
import type { LocalNode } from '../node.ts';
import { bankFor, withContext } from './context.ts';

export function isBlockhashValid(node: LocalNode, params: JsonValue | undefined): WritableJson {
  const { blockhash, config } = parseIsBlockhashValid(params);
  const bank = bankFor(node, config);
  const value: IsBlockhashValidResult = bank.isBlockhashValid(blockhash);
  return withContext(bank, value);
}

import type { JsonValue } from '../../base/json.ts';
import type { Signature } from '../../solana/signature.ts';
import { at, limitInputs, positional, readSignature } from './parameters.ts';
import { optional, readBoolean, readPlainStruct, readStrings, required } from './serde.ts';

export const STATUSES_MAX = 256;

export type GetSignatureStatusesParams = Readonly<{
  signatures: readonly Signature[];
  searchHistory: boolean;
}>;

const readSearchHistory = (value: JsonValue): boolean =>
  required(
    readPlainStruct(value, 'RpcSignatureStatusConfig', ['searchTransactionHistory']),
    'searchTransactionHistory',
    readBoolean,
  );

/** `[signatures], {searchTransactionHistory}`; at most 256 signatures. */
export function parseGetSignatureStatuses(params: JsonValue | undefined): GetSignatureStatusesParams {
  const list = positional(params, 1, 2);
  const texts = at(list, 0, readStrings);
  const searchHistory = optional(list[1], readSearchHistory) ?? false;
  limitInputs(texts, STATUSES_MAX);
  return { signatures: texts.map(readSignature), searchHistory };
}

import { type WritableJson, writeJson } from '../../base/json.ts';
import type { RpcError } from '../../protocol/rpc-error.ts';

/** The answer with a result, under the JSON of an id. Members in the order in which jsonrpc-core writes them. */
export const encodeResult = (id: string, result: WritableJson): string =>
  `{"jsonrpc":"2.0","result":${writeJson(result)},"id":${id}}`;

/** The answer with an error. */
export const encodeError = (id: string, error: RpcError): string =>
  `{"jsonrpc":"2.0",${errorAndId(id, error)}`;

/** The answer to a call that names no version: it names none either. */
export const encodeVersionlessError = (id: string, error: RpcError): string => `{${errorAndId(id, error)}`;

const errorAndId = (id: string, { code, message, data }: RpcError): string =>
  `"error":${writeJson({ code, message, data })},"id":${id}}`;

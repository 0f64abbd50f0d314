import { type WritableJson, writeJson } from '../../base/json.ts';
import type { RpcError } from '../../protocol/rpc-error.ts';
import type { RequestId } from './decode.ts';

/** Whom an answer is for. */
export type Addressee = Readonly<{ id: RequestId; versioned: boolean }>;

const head = (to: Addressee): string => (to.versioned ? '{"jsonrpc":"2.0",' : '{');

/** The answer with a result. Members in the order in which jsonrpc-core writes them. */
export const encodeResult = (to: Addressee, result: WritableJson): string =>
  `${head(to)}"result":${writeJson(result)},"id":${writeJson(to.id)}}`;

/** The answer with an error. */
export const encodeError = (to: Addressee, error: RpcError): string => {
  const { code, message, data } = error;
  return `${head(to)}"error":${writeJson({ code, message, data })},"id":${writeJson(to.id)}}`;
};

/**
 * Builds responses as lists of buffers, without copies. Members are in Agave's order: jsonrpc, result or error, id.
 */
import { writeJson } from '../base/json.ts';
import type { RpcResponse } from './call.ts';
import type { Failure } from './errors.ts';

const RESULT = Buffer.from('{"jsonrpc":"2.0","result":');
const ERROR = Buffer.from('{"jsonrpc":"2.0","error":');
const ERROR_WITHOUT_VERSION = Buffer.from('{"error":');
const ID = Buffer.from(',"id":');
const END = Buffer.from('}');

export const NULL_ID = Buffer.from('null');
const BATCH_OPEN = Buffer.from('[');
const BATCH_NEXT = Buffer.from(',');
const BATCH_CLOSE = Buffer.from(']');
/** Agave ends every body with a newline. */
const NEWLINE = Buffer.from('\n');

/** Cached because each body is needed twice: for its length and for sending. */
const serializedErrors = new WeakMap<Failure, Buffer>();

/** The `error` object. For our own codes, `data` has the FailureCode, facts and `retryAfter` (s), but not the cause. */
export function failureBody(failure: Failure): Buffer {
  const cached = serializedErrors.get(failure);
  if (cached !== undefined) return cached;
  const { code, row, text, facts, retryAfter } = failure;
  // Agave sends JSON-RPC's own codes without `data`.
  const data = row.rpc >= -32_700 && row.rpc <= -32_600 ? undefined : { code, ...facts, retryAfter };
  const body = Buffer.from(writeJson({ code: row.rpc, message: text, data }));
  serializedErrors.set(failure, body);
  return body;
}

const suffixBytes = (idBytes: number): number => ID.length + idBytes + END.length;

/** @param idBytes - size of the caller's id as written. */
export const responseBytes = ({ body, errorCode }: RpcResponse, idBytes: number): number =>
  (errorCode === 0 ? RESULT : ERROR).length + body.length + suffixBytes(idBytes);

/** @param isComplete - false if the response was aborted. */
export const streamedResponseBytes = (resultBytes: number, isComplete: boolean, idBytes: number): number =>
  RESULT.length + resultBytes + (isComplete ? suffixBytes(idBytes) : 0);

export const failureBytes = (failure: Failure, idBytes: number): number =>
  prefixOf(failure).length + failureBody(failure).length + suffixBytes(idBytes);

export function pushResponse(pieces: Buffer[], response: RpcResponse, id: Buffer): void {
  pieces.push(response.errorCode === 0 ? RESULT : ERROR, response.body, ID, id, END);
}

export const resultPrefix = (): Buffer => RESULT;

/** Includes the newline that ends the body: a streamed result has a response body of its own. */
export const resultSuffix = (id: Buffer): Buffer => Buffer.concat([ID, id, END, NEWLINE]);

export function pushFailure(pieces: Buffer[], failure: Failure, id: Buffer): void {
  pieces.push(prefixOf(failure), failureBody(failure), ID, id, END);
}

const prefixOf = ({ row }: Failure): Buffer => (row.versionless ? ERROR_WITHOUT_VERSION : ERROR);

export function endSingle(pieces: Buffer[]): Buffer[] {
  pieces.push(NEWLINE);
  return pieces;
}

export function joinBatch(responses: readonly Buffer[][]): Buffer[] {
  const pieces: Buffer[] = [];
  for (const response of responses) pieces.push(pieces.length === 0 ? BATCH_OPEN : BATCH_NEXT, ...response);
  pieces.push(BATCH_CLOSE, NEWLINE);
  return pieces;
}

/**
 * The JSON-RPC 2.0 envelope of an answer, as a list of pieces: the bytes that were received stay where they are
 * and whoever writes them decides whether copying or gathering is cheaper. Members stand in the order in which
 * Agave writes them: jsonrpc, result or error, id.
 */
import { writeJson } from '../base/json.ts';
import type { RpcResponse } from './call.ts';
import type { Failure } from './errors.ts';

const RESULT = Buffer.from('{"jsonrpc":"2.0","result":');
const ERROR = Buffer.from('{"jsonrpc":"2.0","error":');
const ERROR_WITHOUT_VERSION = Buffer.from('{"error":');
const ID = Buffer.from(',"id":');
const END = Buffer.from('}');

/** Raw JSON of the id that answers what has no usable id. */
export const NULL_ID = Buffer.from('null');
const BATCH_OPEN = Buffer.from('[');
const BATCH_NEXT = Buffer.from(',');
const BATCH_CLOSE = Buffer.from(']');
/** Agave ends every body with one. */
const NEWLINE = Buffer.from('\n');

/** The text of failures that were written: it is counted first, and sent then. */
const serializedErrors = new WeakMap<Failure, Buffer>();

/** The codes of JSON-RPC itself; their errors carry no `data`, as Agave sends them. */
const isStandardCode = (rpc: number): boolean => rpc >= -32_700 && rpc <= -32_600;

/**
 * The raw JSON of the `error` member for a failure: code and text of its row; for our own rows `data` holds the
 * row's name as `code`, the facts, and `retryAfter` in seconds when there is one. Nothing of the cause.
 */
export function failureBody(failure: Failure): Buffer {
  const cached = serializedErrors.get(failure);
  if (cached !== undefined) return cached;
  const body = serializeError(failure);
  serializedErrors.set(failure, body);
  return body;
}

function serializeError({ code, row, text, facts, retryAfter }: Failure): Buffer {
  const data = isStandardCode(row.rpc) ? undefined : { code, ...facts, retryAfter };
  return Buffer.from(writeJson({ code: row.rpc, message: text, data }));
}

/** Bytes behind the result or error of an answer. */
const suffixBytes = (idBytes: number): number => ID.length + idBytes + END.length;

/** Bytes that `pushAnswer` adds. @param idBytes - of the caller's id as written. */
export const responseBytes = ({ body, errorCode }: RpcResponse, idBytes: number): number =>
  (errorCode === 0 ? RESULT : ERROR).length + body.length + suffixBytes(idBytes);

/** Bytes of an answer that was written while it came. @param resultBytes - of its result. @param isWhole - else it broke off. */
export const streamedResponseBytes = (resultBytes: number, isComplete: boolean, idBytes: number): number =>
  RESULT.length + resultBytes + (isComplete ? suffixBytes(idBytes) : 0);

/** Bytes that `pushFailure` adds. @param idBytes - as of `answerBytes`. */
export const failureBytes = (failure: Failure, idBytes: number): number =>
  prefixOf(failure).length + failureBody(failure).length + suffixBytes(idBytes);

/** Adds the pieces of an upstream's answer under the caller's id. */
export function pushResponse(pieces: Buffer[], response: RpcResponse, id: Buffer): void {
  pieces.push(response.errorCode === 0 ? RESULT : ERROR, response.body, ID, id, END);
}

/** What stands before a result that is written while it comes. */
export const resultPrefix = (): Buffer => RESULT;

/** What stands behind one, in a body of its own. */
export const resultSuffix = (id: Buffer): Buffer => Buffer.concat([ID, id, END, NEWLINE]);

/** Adds the pieces of an error answer. */
export function pushFailure(pieces: Buffer[], failure: Failure, id: Buffer): void {
  pieces.push(prefixOf(failure), failureBody(failure), ID, id, END);
}

const prefixOf = ({ row }: Failure): Buffer => (row.versionless ? ERROR_WITHOUT_VERSION : ERROR);

/** Ends a body that holds one answer. */
export function endSingle(pieces: Buffer[]): Buffer[] {
  pieces.push(NEWLINE);
  return pieces;
}

/** Joins the answers of a batch, in the order given, into one body. */
export function joinBatch(responses: readonly Buffer[][]): Buffer[] {
  const pieces: Buffer[] = [];
  for (const response of responses) pieces.push(pieces.length === 0 ? BATCH_OPEN : BATCH_NEXT, ...response);
  pieces.push(BATCH_CLOSE, NEWLINE);
  return pieces;
}

import { type JsonValue, writeJson } from '../../base/json.ts';
import { Failure, type FailureCode } from '../errors.ts';

/** JSON-RPC error of a node; public. */
export type NodeError = Readonly<{ code: number; message: string; data?: JsonValue }>;

const MESSAGE_MAX = 1_000;
/** Maximum bytes of `data` sent to the client: enough for the logs of a simulation. */
const DATA_MAX_BYTES = 16 * 1024;

/** Limits an error to what may be sent to the client. */
function truncate({ code, message: fullMessage, data }: NodeError): NodeError {
  const message = fullMessage.slice(0, MESSAGE_MAX).toWellFormed();
  const isIncluded = data !== undefined && Buffer.byteLength(writeJson(data)) <= DATA_MAX_BYTES;
  return isIncluded ? { code, message, data } : { code, message };
}

/** Parses an error member; null without a message. @param code - already parsed. */
export function parseNodeError(error: JsonValue, code: number): NodeError | null {
  if (error === null || typeof error !== 'object' || Array.isArray(error)) return null;
  const { message, data } = error;
  if (typeof message !== 'string') return null;
  return data === undefined ? { code, message } : { code, message, data };
}

/**
 * Error of a node for a call made by an endpoint. The caller's input is already validated, so the service is
 * at fault; endpoints that forward signed transactions use TRANSACTION_REFUSED.
 * The message is truncate to 1,000 characters; `data` above 16 KiB is dropped.
 */
export class NodeRejection extends Failure {
  readonly error: NodeError;

  constructor(error: NodeError, code: FailureCode = 'UPSTREAM_UNAVAILABLE') {
    super(code);
    this.error = truncate(error);
  }
}

import { type JsonValue, writeJson } from '../../base/json.ts';
import { Failure, type FailureCode } from '../errors.ts';

/** Sent to clients. */
export type NodeError = Readonly<{ code: number; message: string; data?: JsonValue }>;

const MESSAGE_MAX = 1_000;
/** Enough for the logs of a simulation. */
const DATA_MAX_BYTES = 16 * 1024;

function truncate({ code, message: fullMessage, data }: NodeError): NodeError {
  const message = fullMessage.slice(0, MESSAGE_MAX).toWellFormed();
  const isIncluded = data !== undefined && Buffer.byteLength(writeJson(data)) <= DATA_MAX_BYTES;
  return isIncluded ? { code, message, data } : { code, message };
}

/** @returns null if the error has no message. */
export function parseNodeError(error: JsonValue, code: number): NodeError | null {
  if (error === null || typeof error !== 'object' || Array.isArray(error)) return null;
  const { message, data } = error;
  if (typeof message !== 'string') return null;
  return data === undefined ? { code, message } : { code, message, data };
}

/**
 * A node's error response to a call that an endpoint made. The client's input was validated before, so by default the
 * code does not blame the client. Endpoints that forward signed transactions use TRANSACTION_REFUSED.
 */
export class NodeRejection extends Failure {
  readonly error: NodeError;

  constructor(error: NodeError, code: FailureCode = 'UPSTREAM_UNAVAILABLE') {
    super(code);
    this.error = truncate(error);
  }
}

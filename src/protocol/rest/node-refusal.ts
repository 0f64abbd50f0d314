import { type JsonValue, writeJson } from '../../base/json.ts';
import { Failure, type FailureCode } from '../errors.ts';

/** The JSON-RPC error of a node. It is public: the JSON-RPC door passes the same on. */
export type NodeError = Readonly<{ code: number; message: string; data?: JsonValue }>;

/** Characters of a node's words that are told. */
const MESSAGE_MAX = 1_000;
/** Bytes of the JSON of a node's `data` that are told: enough for the logs of a transaction that was tried. */
const DATA_MAX_BYTES = 16 * 1024;

/** As much of an error as callers are told, however much the node has written. */
function truncated({ code, message: fullMessage, data }: NodeError): NodeError {
  const message = fullMessage.slice(0, MESSAGE_MAX).toWellFormed();
  const isIncluded = data !== undefined && Buffer.byteLength(writeJson(data)) <= DATA_MAX_BYTES;
  return isIncluded ? { code, message, data } : { code, message };
}

/** The error that a node has written; null when it has no words. @param code - as it was read already. */
export function parseNodeError(error: JsonValue, code: number): NodeError | null {
  if (error === null || typeof error !== 'object' || Array.isArray(error)) return null;
  const { message, data } = error;
  if (typeof message !== 'string') return null;
  return data === undefined ? { code, message } : { code, message, data };
}

/**
 * A node's own refusal of a call that an endpoint made. What the caller gave has been checked by then, so the service
 * is what cannot do its work; endpoints that pass on what callers have signed say TRANSACTION_REFUSED instead.
 * Of long words the first 1,000 characters are told; `data` of more than 16 KiB is not.
 */
export class NodeRefusal extends Failure {
  readonly error: NodeError;

  constructor(error: NodeError, code: FailureCode = 'UPSTREAM_UNAVAILABLE') {
    super(code);
    this.error = truncated(error);
  }
}

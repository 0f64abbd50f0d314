import type { JsonValue } from '../../base/json.ts';
import { Failure, type FailureCode } from '../errors.ts';

/** The JSON-RPC error of a node. It is public: the JSON-RPC door passes the same on. */
export type NodeError = Readonly<{ code: number; message: string; data?: JsonValue }>;

/** The error that a node has written; null when it has no words. @param code - as it was read already. */
export function nodeErrorOf(error: JsonValue, code: number): NodeError | null {
  if (error === null || typeof error !== 'object' || Array.isArray(error)) return null;
  const { message, data } = error;
  if (typeof message !== 'string') return null;
  return data === undefined ? { code, message } : { code, message, data };
}

/**
 * A node's own refusal of a call that an endpoint made. What the caller gave has been checked by then, so the service
 * is what cannot do its work; endpoints that pass on what callers have signed say TRANSACTION_REFUSED instead.
 */
export class NodeRefusal extends Failure {
  readonly error: NodeError;

  constructor(error: NodeError, code: FailureCode = 'UPSTREAM_UNAVAILABLE') {
    super(code);
    this.error = error;
  }
}

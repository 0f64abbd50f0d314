import type { JsonValue } from '../../base/json.ts';
import { Failure, type FailureCode } from '../errors.ts';

/** The JSON-RPC error of a node. It is public: the JSON-RPC door passes the same on. */
export type NodeError = Readonly<{ code: number; message: string; data?: JsonValue }>;

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

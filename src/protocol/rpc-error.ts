import type { WritableJson } from '../base/json.ts';
import type { CallAttempt } from './errors.ts';

/** An error as Agave sends it, in a successful HTTP response. Source: rpc-client-api `custom_error.rs`. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: WritableJson | undefined;
  /** For the request log; empty if the error is not that of a node. */
  attempts: readonly CallAttempt[] = [];

  constructor(code: number, message: string, data?: WritableJson) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

export const invalidParams = (message: string, data?: WritableJson): RpcError =>
  new RpcError(-32602, message, data);

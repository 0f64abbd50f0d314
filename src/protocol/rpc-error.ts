import type { WritableJson } from '../base/json.ts';

/**
 * Error of a JSON-RPC method as Agave would send it: code, exact text, data. Sent in a successful HTTP
 * response. Source: Agave rpc-client-api `custom_error.rs`; reference §2.1 and §2.2.
 */
export class RpcError extends Error {
  readonly code: number;
  readonly data: WritableJson | undefined;

  constructor(code: number, message: string, data?: WritableJson) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

export const invalidParams = (message: string, data?: WritableJson): RpcError =>
  new RpcError(-32602, message, data);

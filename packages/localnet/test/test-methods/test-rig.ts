import { type JsonValue, parseJson, type WritableJson, writeJson } from '../../../../src/base/json.ts';
import { RpcError } from '../../../../src/protocol/rpc-error.ts';
import { withFork } from '../../src/fork/forked-handlers.ts';
import type { OpenLocalNode } from '../../src/genesis/open.ts';
import { rpcHandlers } from '../../src/rpc-handlers.ts';
import { testHandlers } from '../../src/test-methods/test-handlers.ts';

/** Calls a method as a client does: a result parsed by JSON.parse, or the error as `{code, message, data}`. */
// biome-ignore lint/suspicious/noExplicitAny: the tests look into results of every shape
export type Call = (method: string, ...params: readonly unknown[]) => Promise<any>;

export function callsOn(node: OpenLocalNode): Call {
  const handlers = withFork({ ...rpcHandlers, ...testHandlers(node) }, node);
  return async (method, ...params) => {
    const handler = handlers[method];
    if (handler === undefined) throw new Error(`no method ${method}`);
    const given: JsonValue = parseJson(writeJson(params as WritableJson));
    try {
      return JSON.parse(writeJson(await handler(node, given)));
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, data } = error;
      return JSON.parse(writeJson({ code, message, data }));
    }
  };
}

export const confirmed = { commitment: 'confirmed', encoding: 'base64' };

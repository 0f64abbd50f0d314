import type { Call, RpcDispatcher, RpcResponse } from '../../../src/protocol/call.ts';
import { Failure } from '../../../src/protocol/errors.ts';

export const dispatcherOf = (
  respond: (call: Call, signal: AbortSignal) => Promise<RpcResponse>,
): RpcDispatcher => ({
  dispatch: (call, handler) => {
    const abort = new AbortController();
    respond(call, abort.signal).then(
      (response) => handler.onResponse(response),
      (thrown: unknown) =>
        handler.onError(thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown })),
    );
    return { cancel: () => abort.abort(new Failure('CLIENT_GONE', { facts: { network: call.network } })) };
  },
});

import type { Call, PendingCall, ResponseHandler, RpcDispatcher, RpcResponse } from './call.ts';
import type { Failure } from './errors.ts';

/** For a call that completed before `dispatch` returned, or that cannot be canceled. */
export const noopPendingCall: PendingCall = { cancel: () => {} };

export type Middleware = (next: RpcDispatcher) => RpcDispatcher;

/** The first is the outermost; null is skipped. */
export const compose =
  (...middleware: readonly (Middleware | null)[]): Middleware =>
  (next) =>
    middleware.reduceRight((inner, wrap) => wrap?.(inner) ?? inner, next);

class ResponsePromise implements ResponseHandler {
  readonly #settlers = Promise.withResolvers<RpcResponse>();

  get promise(): Promise<RpcResponse> {
    return this.#settlers.promise;
  }

  onResponse(response: RpcResponse): void {
    this.#settlers.resolve(response);
  }

  onError(failure: Failure): void {
    this.#settlers.reject(failure);
  }
}

/** A JSON-RPC error is a response. @throws Failure when no node answered; CLIENT_GONE when the signal canceled it. */
export function request(dispatcher: RpcDispatcher, call: Call, signal?: AbortSignal): Promise<RpcResponse> {
  const response = new ResponsePromise();
  const pending = dispatcher.dispatch(call, response);
  if (signal === undefined) return response.promise;
  const cancel = (): void => pending.cancel();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  return response.promise.finally(() => signal.removeEventListener('abort', cancel));
}

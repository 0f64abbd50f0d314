import type { Call, PendingCall, RpcDispatcher, RpcResponse } from './call.ts';

/** For a call that completed before `dispatch` returned, or that cannot be canceled. */
export const noopPendingCall: PendingCall = { cancel: () => {} };

export type Middleware = (next: RpcDispatcher) => RpcDispatcher;

/** Composes middleware, outermost first. Skips null. */
export const compose =
  (...middleware: readonly (Middleware | null)[]): Middleware =>
  (next) =>
    middleware.reduceRight((inner, wrap) => wrap?.(inner) ?? inner, next);

/** Cancels the call if the signal is aborted before the promise settles. @returns the promise. */
export function canceledBy<T>(
  signal: AbortSignal | undefined,
  pending: PendingCall,
  promise: Promise<T>,
): Promise<T> {
  if (signal === undefined) return promise;
  const cancel = (): void => pending.cancel();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  return promise.finally(() => signal.removeEventListener('abort', cancel));
}

/** A JSON-RPC error counts as a response. @throws Failure if no node responded; CLIENT_GONE if the call is canceled. */
export function request(dispatcher: RpcDispatcher, call: Call, signal?: AbortSignal): Promise<RpcResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RpcResponse>();
  const pending = dispatcher.dispatch(call, { onResponse: resolve, onError: reject });
  return canceledBy(signal, pending, promise);
}

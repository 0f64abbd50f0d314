import type { Call, PendingCall, ResponseHandler, RpcClient, RpcDispatcher, RpcResponse } from './call.ts';
import { Failure } from './errors.ts';

/** A promise of what a call comes to. */
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

/** What `ask` is of a source that is asked by `put`. @throws Failure as `Source.ask`. */
export function requestFrom(
  source: Pick<RpcDispatcher, 'dispatch'>,
  call: Call,
  signal?: AbortSignal,
): Promise<RpcResponse> {
  const responsePromise = new ResponsePromise();
  const pending = source.dispatch(call, responsePromise);
  if (signal === undefined) return responsePromise.promise;
  const cancel = (): void => pending.cancel();
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  return responsePromise.promise.finally(() => signal.removeEventListener('abort', cancel));
}

/** A source that knows promises only, asked by `put`. */
class DispatcherAdapter implements RpcDispatcher {
  readonly #source: RpcClient;

  constructor(source: RpcClient) {
    this.#source = source;
  }

  request(call: Call, signal?: AbortSignal): Promise<RpcResponse> {
    return this.#source.request(call, signal);
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const abortController = new AbortController();
    this.#source.request(call, abortController.signal).then(
      (response) => handler.onResponse(response),
      (thrown: unknown) =>
        handler.onError(thrown instanceof Failure ? thrown : new Failure('INTERNAL', { cause: thrown })),
    );
    const { network } = call;
    return { cancel: () => abortController.abort(new Failure('CLIENT_GONE', { facts: { network } })) };
  }
}

/** The same source, which can be asked by `put` whatever it is. */
export const toDispatcher = (source: RpcClient): RpcDispatcher =>
  'dispatch' in source ? (source as RpcDispatcher) : new DispatcherAdapter(source);

import type { Call, PendingCall, ResponseHandler, RpcDispatcher } from '../../protocol/call.ts';
import { noopPendingCall } from '../../protocol/rpc-dispatcher.ts';
import type { CallKeys } from './call-key.ts';
import type { MemoryCache } from './memory-cache.ts';
import type { ResponseCounts } from './response-counts.ts';

export type ResponseCacheOptions = Readonly<{
  memory: MemoryCache;
  keys: CallKeys;
  counts: ResponseCounts;
}>;

/** Answers what is kept from memory, at once, and asks for the rest. */
export class ResponseCache implements RpcDispatcher {
  readonly #next: RpcDispatcher;
  readonly #options: ResponseCacheOptions;

  /** @param next - contains the coalescer, which fills the memory cache. */
  constructor(next: RpcDispatcher, options: ResponseCacheOptions) {
    this.#next = next;
    this.#options = options;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const { memory, keys, counts } = this.#options;
    const key = keys.keyOf(call);
    if (key === null || key.policy.ttl === 'never') return this.#next.dispatch(call, handler);
    key.lookups++;
    const response = memory.find(call, key);
    if (response === null) {
      counts.misses++;
      return this.#next.dispatch(call, handler);
    }
    counts.hits++;
    call.trace?.onServedFrom?.('cache', performance.now());
    handler.onResponse(response);
    return noopPendingCall;
  }
}

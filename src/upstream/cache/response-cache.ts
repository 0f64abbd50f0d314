import type { Call, PendingCall, ResponseHandler, RpcDispatcher } from '../../protocol/call.ts';
import { noopPendingCall } from '../../protocol/rpc-dispatcher.ts';
import type { RequestCoalescer } from '../coalesce/request-coalescer.ts';
import type { CallKeys } from './call-key.ts';
import type { MemoryCache } from './memory-cache.ts';
import type { ResponseCounts } from './response-counts.ts';

export type ResponseCacheOptions = Readonly<{
  /** What is asked when nothing is kept; the memory hears its answers. */
  coalescer: RequestCoalescer;
  memory: MemoryCache;
  keys: CallKeys;
  counts: ResponseCounts;
}>;

/** Answers what is kept from memory, at once, and asks for the rest. */
export class ResponseCache implements RpcDispatcher {
  readonly #parts: ResponseCacheOptions;

  constructor(parts: ResponseCacheOptions) {
    this.#parts = parts;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const { coalescer, memory, keys, counts } = this.#parts;
    const key = keys.keyOf(call);
    if (key === null || key.policy.ttl === 'never') return coalescer.dispatchAs(key, call, handler);
    key.lookups++;
    const response = memory.find(call, key);
    if (response === null) {
      counts.misses++;
      return coalescer.dispatchAs(key, call, handler);
    }
    counts.hits++;
    call.trace?.onServedFrom?.('cache', performance.now());
    handler.onResponse(response);
    return noopPendingCall;
  }
}

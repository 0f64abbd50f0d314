import { isUtf8 } from 'node:buffer';
import { isJson } from '../../base/json-scan.ts';
import type {
  Call,
  Network,
  PendingCall,
  ResponseHandler,
  RpcDispatcher,
  RpcResponse,
} from '../../protocol/call.ts';
import { Failure } from '../../protocol/errors.ts';
import { noopPendingCall } from '../../protocol/rpc-dispatcher.ts';
import type { StreamHandler } from '../../protocol/streamed-response.ts';
import type { Slot } from '../../solana/units.ts';
import { genesisCall, parseGenesisHash } from '../genesis-hash.ts';
import { type CacheTtls, defaultCacheTtls, lacksOption, policiesByRow, ttlFor } from './cache-policy.ts';
import type { CallKey, CallKeys } from './call-key.ts';
import type { ResponseCounts } from './response-counts.ts';

/** Response store shared by several gateways or workers. */
export interface ResponseStore {
  /** @param callback - called at most once, with null if absent or unavailable. Must not throw. */
  get(key: string, callback: (body: Buffer | null) => void): void;
  /** Best effort. Must not modify `body`. */
  set(key: string, body: Buffer, ttlMs: number): void;
}

export const storeCacheLimits = {
  /** Maximum wait for the store before a node is called. */
  waitMs: 5,
  /** How long the store is not used after a timeout. */
  backoffMs: 1_000,
  answerMaxBytes: 262_144,
};

export type StoreCacheLimits = Readonly<typeof storeCacheLimits>;

export type StoreCacheOptions = Readonly<{
  store: ResponseStore;
  keys: CallKeys;
  counts: ResponseCounts;
  /** Finalized root; null: unknown. */
  roots: Readonly<{ rootOf(network: Network): Slot | null }>;
  /** Additional condition; in any case, the response must stay valid for longer than a slot. */
  isStorable?: (call: Call) => boolean;
  /** Whether a response belongs to the call, as far as its content shows. Other responses are not stored. */
  isResponseTo?: (call: Call, body: Buffer) => boolean;
  limits?: Partial<StoreCacheLimits>;
  ttls?: Partial<CacheTtls>;
}>;

/** Maximum nesting of a valid result; responses from nodes never nest deeper. */
const DEPTH_MAX = 256;

/** State that changes every slot would expire before another gateway reads it. */
function isLasting({ row, params }: Call): boolean {
  const policy = policiesByRow.get(row)!;
  return policy.ttl !== 'never' && policy.ttl !== 'slot' && !lacksOption(policy, params);
}

/** Stored results are checked, because other programs may write to the store. */
const isValidResult = (body: Buffer): boolean => isUtf8(body) && isJson(body, DEPTH_MAX);

type Parts = StoreCacheOptions &
  Readonly<{ next: RpcDispatcher; limits: StoreCacheLimits; ttls: CacheTtls; onTimeout: () => void }>;

class StoreLookup implements PendingCall, ResponseHandler {
  readonly #parts: Parts;
  readonly #storeKey: string;
  readonly #key: CallKey;
  readonly #call: Call;
  readonly #handler: ResponseHandler;
  readonly #startedAt = performance.now();
  /** Set while the store has not responded. */
  #timer: NodeJS.Timeout | null = null;
  #pending: PendingCall = noopPendingCall;

  constructor(parts: Parts, storeKey: string, key: CallKey, call: Call, handler: ResponseHandler) {
    this.#parts = parts;
    this.#storeKey = storeKey;
    this.#key = key;
    this.#call = call;
    this.#handler = handler;
  }

  start(): void {
    const { store, limits, onTimeout } = this.#parts;
    this.#timer = setTimeout(() => {
      onTimeout();
      this.#onStoreResult(null);
    }, limits.waitMs);
    store.get(this.#storeKey, (body) => this.#onStoreResult(body));
  }

  cancel(): void {
    if (!this.#stopWaiting()) {
      this.#pending.cancel();
      return;
    }
    const { network } = this.#call;
    this.#handler.onError(new Failure('CLIENT_GONE', { facts: { network } }));
  }

  get stream(): StreamHandler | null {
    return this.#handler.stream ?? null;
  }

  onResponse(response: RpcResponse): void {
    const { store, limits, roots, ttls, isResponseTo } = this.#parts;
    const { body } = response;
    const ms = ttlFor(this.#key, response, roots.rootOf(this.#call.network), ttls);
    const isStored = ms > 0 && body.length <= limits.answerMaxBytes;
    if (isStored && isResponseTo?.(this.#call, body) !== false) store.set(this.#storeKey, body, ms);
    this.#handler.onResponse(response);
  }

  onError(failure: Failure): void {
    this.#handler.onError(failure);
  }

  #stopWaiting(): boolean {
    if (this.#timer === null) return false;
    clearTimeout(this.#timer);
    this.#timer = null;
    return true;
  }

  #onStoreResult(body: Buffer | null): void {
    if (!this.#stopWaiting()) return;
    const { counts, next } = this.#parts;
    if (body === null || !isValidResult(body)) {
      counts.unstored++;
      this.#pending = next.dispatch(this.#call, this);
      return;
    }
    counts.stored++;
    this.#call.trace?.onServedFrom?.('store', this.#startedAt);
    this.#handler.onResponse({ body, errorCode: 0 });
  }
}

/** Responds from a store. Stores only responses that stay valid for longer than a slot. */
export class StoreCache implements RpcDispatcher {
  readonly #parts: Parts;
  readonly #chainIds: ChainIds;
  #backoffUntil = Number.NEGATIVE_INFINITY;

  constructor(next: RpcDispatcher, options: StoreCacheOptions) {
    const limits = { ...storeCacheLimits, ...options.limits };
    const onTimeout = (): void => {
      this.#backoffUntil = performance.now() + limits.backoffMs;
    };
    this.#parts = { ...options, next, limits, ttls: { ...defaultCacheTtls, ...options.ttls }, onTimeout };
    this.#chainIds = new ChainIds(next);
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const { keys, next, isStorable } = this.#parts;
    const canUseStore =
      isLasting(call) && isStorable?.(call) !== false && performance.now() >= this.#backoffUntil;
    const key = canUseStore ? keys.keyOf(call) : null;
    const chain = key !== null ? this.#chainIds.chainIdOf(call.network) : null;
    if (key === null || chain === null) return next.dispatch(call, handler);
    const lookup = new StoreLookup(this.#parts, `${chain}\n${key.text}`, key, call, handler);
    lookup.start();
    return lookup;
  }
}

/** Chain IDs are refreshed because a test network may restart from another genesis under the same name. */
const REFRESH_INTERVAL_MS = 60_000;

/** Genesis hash of each network, used as a key prefix. */
class ChainIds {
  readonly #source: RpcDispatcher;
  readonly #chainIds = new Map<Network, string>();
  readonly #requestedAt = new Map<Network, number>();

  constructor(source: RpcDispatcher) {
    this.#source = source;
  }

  /** null while unknown. Refreshes in the background. */
  chainIdOf(network: Network): string | null {
    const now = performance.now();
    if (now - (this.#requestedAt.get(network) ?? Number.NEGATIVE_INFINITY) >= REFRESH_INTERVAL_MS) {
      this.#requestedAt.set(network, now);
      this.#refresh(network);
    }
    return this.#chainIds.get(network) ?? null;
  }

  #refresh(network: Network): void {
    this.#source.dispatch(genesisCall(network), {
      onResponse: (response) => this.#record(network, response),
      // Retried with the next call.
      onError: () => this.#requestedAt.delete(network),
    });
  }

  #record(network: Network, response: RpcResponse): void {
    const hash = parseGenesisHash(response);
    if (hash === null) this.#chainIds.delete(network);
    else this.#chainIds.set(network, hash);
  }
}

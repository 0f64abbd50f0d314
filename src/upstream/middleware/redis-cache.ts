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
import { genesisCall, parseGenesisHash } from '../genesis.ts';
import { type CacheTtls, defaultCacheTtls, type TtlClass, ttlFor } from './cache-policy.ts';
import type { CallKey, CallKeys } from './call-key.ts';
import type { FinalizedRoots } from './response-cache.ts';
import type { ResponseCounts } from './response-counts.ts';

/** Results that several gateways keep together. */
export interface ResponseStore {
  /**
   * Looks for a result.
   * @param hear - gets its raw JSON, or null when there is none or it cannot be had; once, or never. Must not throw.
   */
  get(key: string, callback: (body: Buffer | null) => void): void;
  /** Stores a result for a while, if it can be done; nobody waits for it. The bytes are not changed. */
  set(key: string, body: Buffer, ttlMs: number): void;
}

export type RedisCacheLimits = Readonly<{
  /** How long the store is waited for before a node is asked. */
  waitMs: number;
  /** How long it is left alone once it did not tell in time. */
  backoffMs: number;
  /** The longest answer that is stored. */
  answerMaxBytes: number;
}>;

export const redisCacheLimits: RedisCacheLimits = { waitMs: 5, backoffMs: 1_000, answerMaxBytes: 262_144 };

export type RedisCacheOptions = Readonly<{
  store: ResponseStore;
  keys: CallKeys;
  counts: ResponseCounts;
  roots: FinalizedRoots;
  limits?: Partial<RedisCacheLimits>;
  ttls?: Partial<CacheTtls>;
}>;

/** Deeper than any answer of a node nests. */
const DEPTH_MAX = 256;

/** The moving state is over before others could read of it. */
const isStorable = (ttl: TtlClass): boolean => ttl === 'shortly' || ttl === 'always' || ttl === 'final';

/** Whether it can be passed on as a result: others write there too. */
const isValidResult = (body: Buffer): boolean => isUtf8(body) && isJson(body, DEPTH_MAX);

type Parts = RedisCacheOptions &
  Readonly<{ next: RpcDispatcher; limits: RedisCacheLimits; ttls: CacheTtls; onTimeout: () => void }>;

/** A question to the store, then to the source if the store has nothing, or nothing in time. */
class StoreLookup implements PendingCall, ResponseHandler {
  readonly #parts: Parts;
  readonly #storeKey: string;
  readonly #key: CallKey;
  readonly #call: Call;
  readonly #handler: ResponseHandler;
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout | null = null;
  #isWaiting = true;
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

  /** Long ones are not stored. */
  get stream(): StreamHandler | null {
    return this.#handler.stream ?? null;
  }

  onResponse(response: RpcResponse): void {
    const { store, limits, roots, ttls } = this.#parts;
    const { length } = response.body;
    const ms = ttlFor(this.#key, response, roots.rootOf(this.#call.network), ttls);
    if (ms > 0 && length <= limits.answerMaxBytes) store.set(this.#storeKey, response.body, ms);
    this.#handler.onResponse(response);
  }

  onError(failure: Failure): void {
    this.#handler.onError(failure);
  }

  /** @returns whether the store was still waited for. */
  #stopWaiting(): boolean {
    if (!this.#isWaiting) return false;
    this.#isWaiting = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
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

/** Answers what several gateways keep together, where it is told quickly, and adds to it what does not change. */
export class RedisCache implements RpcDispatcher {
  readonly #parts: Parts;
  readonly #chainIds: ChainIds;
  #backoffUntil = Number.NEGATIVE_INFINITY;

  constructor(next: RpcDispatcher, options: RedisCacheOptions) {
    const limits = { ...redisCacheLimits, ...options.limits };
    const onTimeout = (): void => {
      this.#backoffUntil = performance.now() + limits.backoffMs;
    };
    this.#parts = { ...options, next, limits, ttls: { ...defaultCacheTtls, ...options.ttls }, onTimeout };
    this.#chainIds = new ChainIds(next);
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    const { keys, next } = this.#parts;
    const key = keys.keyOf(call);
    const canUseStore = key !== null && isStorable(key.policy.ttl) && performance.now() >= this.#backoffUntil;
    const chain = canUseStore ? this.#chainIds.chainIdOf(call.network) : null;
    if (key === null || chain === null) return next.dispatch(call, handler);
    const lookup = new StoreLookup(this.#parts, `${chain}\n${key.text}`, key, call, handler);
    lookup.start();
    return lookup;
  }
}

/** How often a network is asked for its genesis again: one for tests may begin anew under its old name. */
const REFRESH_INTERVAL_MS = 60_000;

/** Which chains the networks are, by the hashes of their genesis. */
export class ChainIds {
  readonly #source: RpcDispatcher;
  readonly #chainIds = new Map<Network, string>();
  readonly #requestedAt = new Map<Network, number>();

  constructor(source: RpcDispatcher) {
    this.#source = source;
  }

  /** The name as far as it is known, at once; null while it is not. */
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
      // Asked again with the next call.
      onError: () => this.#requestedAt.delete(network),
    });
  }

  #record(network: Network, response: RpcResponse): void {
    const hash = parseGenesisHash(response);
    if (hash === null) this.#chainIds.delete(network);
    else this.#chainIds.set(network, hash);
  }
}

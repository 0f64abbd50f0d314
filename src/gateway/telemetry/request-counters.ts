import type { Product } from '../../protocol/product.ts';
import type { KeyId } from '../auth/key-record.ts';
import { isMeteredMethod, OTHER_METHOD } from '../metering/usage-meter.ts';
import { type UsageStatus, usageStatuses } from '../metering/usage-status.ts';

export const requestCounterOptions = {
  /** Maximum number of keys with their own counters; all other keys are counted together. */
  keysMax: 1_000,
  /** Idle time in milliseconds after which a key may be evicted. */
  idleMs: 600_000,
} as const;

const EVICTION_INTERVAL_MS = 10_000;

/** Upper bounds of the latency buckets in seconds; an implicit +Inf bucket follows. */
export const latencyBoundsSeconds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

/** Totals since process start, by status and latency. */
class StatusCount {
  readonly requests = Object.fromEntries(usageStatuses.map((status) => [status, 0])) as CountByStatus;
  readonly latency = new Float64Array(latencyBoundsSeconds.length + 1);
  latencySeconds = 0;

  add(status: UsageStatus, seconds: number, bucket: number): void {
    this.requests[status]++;
    this.latencySeconds += seconds;
    this.latency[bucket] = this.latency[bucket]! + 1;
  }
}

class ProductCount extends StatusCount {
  bytesIn = 0;
  bytesOut = 0;
  /** Subscription and stream messages; `messageBytes` is their total size. */
  messages = 0;
  messageBytes = 0;
}

type CountByStatus = Record<UsageStatus, number>;

const emptyKeyCounts = () => ({ ok: 0, failed: 0, messages: 0, bytesOut: 0 });

export type KeyCounts = ReturnType<typeof emptyKeyCounts>;
const countNames = Object.keys(emptyKeyCounts()) as (keyof KeyCounts)[];

/** `owner` is null once the entry has been evicted. */
export type KeyCounter = KeyCounts & { owner: RequestCounters | null; usedAt: number };

export type CountedKey = Readonly<{ id: KeyId; keyState?: { requestCounts: KeyCounter | null } }>;

/** Creates the marker that is cached in the state of keys without a counter. */
const createOverflowMarker = (): KeyCounter => ({ ...emptyKeyCounts(), owner: null, usedAt: 0 });

type CountedRequest = Readonly<{
  product: Product;
  method: string;
  status: UsageStatus;
  bytesIn: number;
  bytesOut: number;
}>;

/** Request totals since process start, for /metrics. Counting allocates nothing. */
export class RequestCounters {
  readonly products: Readonly<Record<Product, ProductCount>> = {
    rpc: new ProductCount(),
    grpc: new ProductCount(),
    fs: new ProductCount(),
  };
  /** Bounded by the tables of methods and endpoints. */
  readonly #methods = new Map<string, StatusCount>();
  /** Totals of all requests not counted per key. Evicted counters are added, so that no counts are lost. */
  readonly otherKeys: KeyCounts = emptyKeyCounts();
  readonly #keys = new Map<KeyId, KeyCounter>();
  /** Replaced after an eviction, so that keys without a counter try again to get one. */
  #overflowMarker = createOverflowMarker();
  readonly #keysMax: number;
  readonly #idleMs: number;
  readonly #now: () => number;
  #nextEvictionAt = Number.NEGATIVE_INFINITY;

  /** @param now - returns monotonic milliseconds. */
  constructor(options: Readonly<{ keysMax?: number; idleMs?: number; now?: () => number }> = {}) {
    this.#keysMax = options.keysMax ?? requestCounterOptions.keysMax;
    this.#idleMs = options.idleMs ?? requestCounterOptions.idleMs;
    this.#now = options.now ?? (() => performance.now());
  }

  get methods(): ReadonlyMap<string, Readonly<StatusCount>> {
    return this.#methods;
  }

  get keys(): ReadonlyMap<KeyId, Readonly<KeyCounts>> {
    return this.#keys;
  }

  /** @param key - null for a request without a known key. */
  count(key: CountedKey | null, request: CountedRequest, seconds: number): void {
    const { product, method, status, bytesIn, bytesOut } = request;
    const counts = this.products[product];
    counts.bytesIn += bytesIn;
    counts.bytesOut += bytesOut;
    let bucket = 0;
    while (bucket < latencyBoundsSeconds.length && seconds > latencyBoundsSeconds[bucket]!) bucket++;
    counts.add(status, seconds, bucket);
    (this.#methods.get(method) ?? this.#addMethod(method)).add(status, seconds, bucket);
    const keyCount = this.#countsFor(key);
    if (status === 'ok') keyCount.ok++;
    else keyCount.failed++;
    keyCount.bytesOut += bytesOut;
  }

  countMessages(key: CountedKey, product: Product, messages: number, bytes: number): void {
    const counts = this.products[product];
    counts.messages += messages;
    counts.messageBytes += bytes;
    const keyCount = this.#countsFor(key);
    keyCount.messages += messages;
    keyCount.bytesOut += bytes;
  }

  #addMethod(method: string): StatusCount {
    const name = isMeteredMethod(method) ? method : OTHER_METHOD;
    const existing = this.#methods.get(name);
    if (existing !== undefined) return existing;
    const counts = new StatusCount();
    this.#methods.set(name, counts);
    return counts;
  }

  #countsFor(key: CountedKey | null): KeyCounts {
    if (key === null) return this.otherKeys;
    const now = this.#now();
    const { keyState } = key;
    const cached = keyState === undefined ? null : keyState.requestCounts;
    if (cached === this.#overflowMarker && now < this.#nextEvictionAt) return this.otherKeys;
    const entry = cached?.owner === this ? cached : this.#find(key.id, now);
    if (keyState !== undefined) keyState.requestCounts = entry ?? this.#overflowMarker;
    if (entry === null) return this.otherKeys;
    entry.usedAt = now;
    return entry;
  }

  #find(keyId: KeyId, now: number): KeyCounter | null {
    const existing = this.#keys.get(keyId);
    if (existing !== undefined) return existing;
    if (this.#keys.size >= this.#keysMax) this.#evictIdle(now);
    if (this.#keys.size >= this.#keysMax) return null;
    const fresh: KeyCounter = { ...emptyKeyCounts(), owner: this, usedAt: now };
    this.#keys.set(keyId, fresh);
    return fresh;
  }

  /** Evicts only idle keys: otherwise, with many keys, each request could create a new metric series. */
  #evictIdle(now: number): void {
    if (now < this.#nextEvictionAt) return;
    this.#nextEvictionAt = now + EVICTION_INTERVAL_MS;
    for (const [id, entry] of this.#keys) {
      if (now - entry.usedAt < this.#idleMs) continue;
      this.#keys.delete(id);
      entry.owner = null;
      this.#overflowMarker = createOverflowMarker();
      for (const name of countNames) this.otherKeys[name] += entry[name];
    }
  }
}

import { type Product, products } from '../../protocol/product.ts';
import type { KeyId } from '../auth/key-record.ts';
import { type UsageStatus, usageStatuses } from '../metering/usage-meter.ts';

/** What holds when nothing else is said. */
export const requestCounterOptions = {
  /** Keys that are counted each for itself; the rest are counted together. */
  keysMax: 1_000,
  /** A key that was not used for so long makes room for another, in milliseconds. */
  idleMs: 600_000,
} as const;

/** How often it is looked for keys that make room, in milliseconds, however many others come. */
const EVICTION_INTERVAL_MS = 10_000;

/** The upper ends of the buckets that latencies are counted in, in seconds; what is above them has none. */
export const latencyBounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10] as const;

/** What was counted of one product since the process began. */
export type ProductCount = {
  readonly requests: Record<UsageStatus, number>;
  /** One more than there are bounds. */
  readonly latency: Float64Array;
  latencySeconds: number;
  bytesIn: number;
  bytesOut: number;
  /** Notifications and messages of streams, and their bytes. */
  messages: number;
  messageBytes: number;
};

/** What was counted of one key since it was counted for itself. */
export type KeyCount = { ok: number; failed: number; messages: number; bytesOut: number };

const emptyKeyCount = (): KeyCount => ({ ok: 0, failed: 0, messages: 0, bytesOut: 0 });

/** `counters` is null once the entry was evicted. */
export type KeyCounter = KeyCount & { counters: RequestCounters | null; usedAt: number };

/** A key, and where it caches its counter. */
export type CountedKey = Readonly<{ id: KeyId; keyState?: { requestCounts: KeyCounter | null } }>;

/** Cached by keys that found no free counter. */
const overflowMarker = (): KeyCounter => ({ ...emptyKeyCount(), counters: null, usedAt: 0 });

const emptyProductCount = (): ProductCount => ({
  requests: Object.fromEntries(usageStatuses.map((status) => [status, 0])) as Record<UsageStatus, number>,
  latency: new Float64Array(latencyBounds.length + 1),
  latencySeconds: 0,
  bytesIn: 0,
  bytesOut: 0,
  messages: 0,
  messageBytes: 0,
});

/** One request, for counting. */
type CountedRequest = Readonly<{ product: Product; status: UsageStatus; bytesIn: number; bytesOut: number }>;

/** Totals of what went through the doors since the process began. Adding to them allocates nothing. */
export class RequestCounters {
  readonly products: Readonly<Record<Product, ProductCount>>;
  /**
   * Calls without a good key, those of keys beyond the most that are counted each, and what was counted of keys that
   * made room for others: the sum over all never falls.
   */
  readonly otherKeys: KeyCount = emptyKeyCount();
  readonly #keys = new Map<KeyId, KeyCounter>();
  /** Lies in the seats of keys that found no place, until there is room. */
  #overflowMarker = overflowMarker();
  readonly #keysMax: number;
  readonly #idleMs: number;
  readonly #now: () => number;
  #nextEvictionAt = Number.NEGATIVE_INFINITY;

  /** @param now - milliseconds by a clock that is never set. */
  constructor(options: Readonly<{ keysMax?: number; idleMs?: number; now?: () => number }> = {}) {
    this.#keysMax = options.keysMax ?? requestCounterOptions.keysMax;
    this.#idleMs = options.idleMs ?? requestCounterOptions.idleMs;
    this.#now = options.now ?? (() => performance.now());
    const names = Object.keys(products) as Product[];
    this.products = Object.fromEntries(names.map((name) => [name, emptyProductCount()])) as Record<
      Product,
      ProductCount
    >;
  }

  /** Keys with what was counted of each. */
  get keys(): ReadonlyMap<KeyId, Readonly<KeyCount>> {
    return this.#keys;
  }

  /** @param key - null for a request without a good one. */
  count(
    key: CountedKey | null,
    { product, status, bytesIn, bytesOut }: CountedRequest,
    seconds: number,
  ): void {
    const counts = this.products[product];
    counts.requests[status]++;
    counts.bytesIn += bytesIn;
    counts.bytesOut += bytesOut;
    counts.latencySeconds += seconds;
    let bucket = 0;
    while (bucket < latencyBounds.length && seconds > latencyBounds[bucket]!) bucket++;
    counts.latency[bucket] = counts.latency[bucket]! + 1;
    const keyCount = this.#countOf(key);
    if (status === 'ok') keyCount.ok++;
    else keyCount.failed++;
    keyCount.bytesOut += bytesOut;
  }

  /** Counts a block of messages that were sent without asking again. */
  countMessages(key: CountedKey, product: Product, messages: number, bytes: number): void {
    const counts = this.products[product];
    counts.messages += messages;
    counts.messageBytes += bytes;
    const keyCount = this.#countOf(key);
    keyCount.messages += messages;
    keyCount.bytesOut += bytes;
  }

  #countOf(key: CountedKey | null): KeyCount {
    if (key === null) return this.otherKeys;
    const now = this.#now();
    const { keyState } = key;
    if (
      keyState !== undefined &&
      keyState.requestCounts === this.#overflowMarker &&
      now < this.#nextEvictionAt
    )
      return this.otherKeys;
    const entry = this.#cached(keyState) ?? this.#find(key.id, now);
    if (keyState !== undefined) keyState.requestCounts = entry ?? this.#overflowMarker;
    if (entry === null) return this.otherKeys;
    entry.usedAt = now;
    return entry;
  }

  #cached(keyState: CountedKey['keyState']): KeyCounter | null {
    const entry = keyState === undefined ? null : keyState.requestCounts;
    return entry?.counters === this ? entry : null;
  }

  /** null: it is counted with the others. */
  #find(keyId: KeyId, now: number): KeyCounter | null {
    const existing = this.#keys.get(keyId);
    if (existing !== undefined) return existing;
    if (this.#keys.size >= this.#keysMax) this.#evictIdle(now);
    if (this.#keys.size >= this.#keysMax) return null;
    const fresh: KeyCounter = { ...emptyKeyCount(), counters: this, usedAt: now };
    this.#keys.set(keyId, fresh);
    return fresh;
  }

  /** Keys that are in use stay, or each request of one of many would begin a new series. */
  #evictIdle(now: number): void {
    if (now < this.#nextEvictionAt) return;
    this.#nextEvictionAt = now + EVICTION_INTERVAL_MS;
    for (const [id, entry] of this.#keys) {
      const { usedAt, ok, failed, messages, bytesOut } = entry;
      if (now - usedAt < this.#idleMs) continue;
      this.#keys.delete(id);
      entry.counters = null;
      this.#overflowMarker = overflowMarker();
      this.otherKeys.ok += ok;
      this.otherKeys.failed += failed;
      this.otherKeys.messages += messages;
      this.otherKeys.bytesOut += bytesOut;
    }
  }
}

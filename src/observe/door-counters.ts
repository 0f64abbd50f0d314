import { type UsageStatus, usageStatuses } from '../access/usage.ts';
import { type Product, products } from '../protocol/product.ts';

/** What holds when nothing else is said. */
export const doorCounterOptions = {
  /** Keys that are counted each for itself; the rest are counted together. */
  keysMax: 1_000,
  /** A key that was not used for so long makes room for another, in milliseconds. */
  idleMs: 600_000,
} as const;

/** How often it is looked for keys that make room, in milliseconds, however many others come. */
const LOOK_INTERVAL_MS = 10_000;

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

const noCount = (): KeyCount => ({ ok: 0, failed: 0, messages: 0, bytesOut: 0 });

type KeptCount = KeyCount & { usedAt: number };

const noProductCount = (): ProductCount => ({
  requests: Object.fromEntries(usageStatuses.map((status) => [status, 0])) as Record<UsageStatus, number>,
  latency: new Float64Array(latencyBounds.length + 1),
  latencySeconds: 0,
  bytesIn: 0,
  bytesOut: 0,
  messages: 0,
  messageBytes: 0,
});

/** One request, for counting. */
type Counted = Readonly<{ product: Product; status: UsageStatus; bytesIn: number; bytesOut: number }>;

/** Totals of what went through the doors since the process began. Adding to them allocates nothing. */
export class DoorCounters {
  readonly products: Readonly<Record<Product, ProductCount>>;
  /**
   * Calls without a good key, those of keys beyond the most that are counted each, and what was counted of keys that
   * made room for others: the sum over all never falls.
   */
  readonly otherKeys: KeyCount = noCount();
  readonly #keys = new Map<string, KeptCount>();
  readonly #keysMax: number;
  readonly #idleMs: number;
  readonly #now: () => number;
  #lookAt = Number.NEGATIVE_INFINITY;

  /** @param now - milliseconds by a clock that is never set. */
  constructor(options: Readonly<{ keysMax?: number; idleMs?: number; now?: () => number }> = {}) {
    this.#keysMax = options.keysMax ?? doorCounterOptions.keysMax;
    this.#idleMs = options.idleMs ?? doorCounterOptions.idleMs;
    this.#now = options.now ?? (() => performance.now());
    const names = Object.keys(products) as Product[];
    this.products = Object.fromEntries(names.map((name) => [name, noProductCount()])) as Record<
      Product,
      ProductCount
    >;
  }

  /** Keys with what was counted of each. */
  get keys(): ReadonlyMap<string, Readonly<KeyCount>> {
    return this.#keys;
  }

  /** @param keyId - null for a request without a good key. */
  count(keyId: string | null, { product, status, bytesIn, bytesOut }: Counted, seconds: number): void {
    const counts = this.products[product];
    counts.requests[status]++;
    counts.bytesIn += bytesIn;
    counts.bytesOut += bytesOut;
    counts.latencySeconds += seconds;
    let bucket = 0;
    while (bucket < latencyBounds.length && seconds > latencyBounds[bucket]!) bucket++;
    counts.latency[bucket] = counts.latency[bucket]! + 1;
    const key = this.#keyOf(keyId);
    if (status === 'ok') key.ok++;
    else key.failed++;
    key.bytesOut += bytesOut;
  }

  /** Counts a block of messages that were sent without asking again. */
  countMessages(keyId: string, product: Product, messages: number, bytes: number): void {
    const counts = this.products[product];
    counts.messages += messages;
    counts.messageBytes += bytes;
    const key = this.#keyOf(keyId);
    key.messages += messages;
    key.bytesOut += bytes;
  }

  #keyOf(keyId: string | null): KeyCount {
    if (keyId === null) return this.otherKeys;
    const now = this.#now();
    const known = this.#keys.get(keyId);
    if (known !== undefined) {
      known.usedAt = now;
      return known;
    }
    if (this.#keys.size >= this.#keysMax) this.#makeRoom(now);
    if (this.#keys.size >= this.#keysMax) return this.otherKeys;
    const fresh = { ...noCount(), usedAt: now };
    this.#keys.set(keyId, fresh);
    return fresh;
  }

  /** Keys that are in use stay, or each request of one of many would begin a new series. */
  #makeRoom(now: number): void {
    if (now < this.#lookAt) return;
    this.#lookAt = now + LOOK_INTERVAL_MS;
    for (const [id, { usedAt, ok, failed, messages, bytesOut }] of this.#keys) {
      if (now - usedAt < this.#idleMs) continue;
      this.#keys.delete(id);
      this.otherKeys.ok += ok;
      this.otherKeys.failed += failed;
      this.otherKeys.messages += messages;
      this.otherKeys.bytesOut += bytesOut;
    }
  }
}

import { type UsageStatus, usageStatuses } from '../access/usage.ts';
import { type Product, products } from '../protocol/product.ts';

/** What holds when nothing else is said. */
export const doorCounterOptions = {
  /** Keys that are counted each for itself; the rest are counted together. */
  keysMax: 1_000,
} as const;

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

/** What was counted of one key since the process began. */
export type KeyCount = { ok: number; failed: number; messages: number; bytesOut: number };

const noCount = (): KeyCount => ({ ok: 0, failed: 0, messages: 0, bytesOut: 0 });

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
  /** Calls without a good key, and those of keys beyond the most that are counted each. */
  readonly otherKeys: KeyCount = noCount();
  readonly #keys = new Map<string, KeyCount>();
  readonly #keysMax: number;

  constructor({ keysMax }: Readonly<{ keysMax: number }> = doorCounterOptions) {
    this.#keysMax = keysMax;
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
    const known = this.#keys.get(keyId);
    if (known !== undefined) return known;
    if (this.#keys.size >= this.#keysMax) return this.otherKeys;
    const fresh = noCount();
    this.#keys.set(keyId, fresh);
    return fresh;
  }
}

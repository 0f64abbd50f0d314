import type { KeyId } from '../access/key-record.ts';
import type { KeySeat } from '../access/key-seat.ts';
import { type CountedKey, type UsageStatus, usageStatuses } from '../access/usage.ts';
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

/** `owner` is null once another key has its place. */
type KeptCount = KeyCount & { owner: DoorCounters | null; usedAt: number };

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
  readonly #keys = new Map<KeyId, KeptCount>();
  /** Lies in the seats of keys that found no place, until there is room. */
  #crowd = {};
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
  get keys(): ReadonlyMap<KeyId, Readonly<KeyCount>> {
    return this.#keys;
  }

  /** @param key - null for a request without a good one. */
  count(key: CountedKey | null, { product, status, bytesIn, bytesOut }: Counted, seconds: number): void {
    const counts = this.products[product];
    counts.requests[status]++;
    counts.bytesIn += bytesIn;
    counts.bytesOut += bytesOut;
    counts.latencySeconds += seconds;
    let bucket = 0;
    while (bucket < latencyBounds.length && seconds > latencyBounds[bucket]!) bucket++;
    counts.latency[bucket] = counts.latency[bucket]! + 1;
    const own = this.#countOf(key);
    if (status === 'ok') own.ok++;
    else own.failed++;
    own.bytesOut += bytesOut;
  }

  /** Counts a block of messages that were sent without asking again. */
  countMessages(key: CountedKey, product: Product, messages: number, bytes: number): void {
    const counts = this.products[product];
    counts.messages += messages;
    counts.messageBytes += bytes;
    const own = this.#countOf(key);
    own.messages += messages;
    own.bytesOut += bytes;
  }

  #countOf(key: CountedKey | null): KeyCount {
    if (key === null) return this.otherKeys;
    const now = this.#now();
    const { seat } = key;
    if (seat !== undefined && seat.totals === this.#crowd && now < this.#lookAt) return this.otherKeys;
    const kept = this.#seated(seat) ?? this.#find(key.id, now);
    if (seat !== undefined) seat.totals = kept ?? this.#crowd;
    if (kept === null) return this.otherKeys;
    kept.usedAt = now;
    return kept;
  }

  #seated(seat: KeySeat | undefined): KeptCount | null {
    const kept = seat === undefined ? null : (seat.totals as KeptCount | null);
    return kept?.owner === this ? kept : null;
  }

  /** null: it is counted with the others. */
  #find(keyId: KeyId, now: number): KeptCount | null {
    const known = this.#keys.get(keyId);
    if (known !== undefined) return known;
    if (this.#keys.size >= this.#keysMax) this.#makeRoom(now);
    if (this.#keys.size >= this.#keysMax) return null;
    const fresh: KeptCount = { ...noCount(), owner: this, usedAt: now };
    this.#keys.set(keyId, fresh);
    return fresh;
  }

  /** Keys that are in use stay, or each request of one of many would begin a new series. */
  #makeRoom(now: number): void {
    if (now < this.#lookAt) return;
    this.#lookAt = now + LOOK_INTERVAL_MS;
    for (const [id, kept] of this.#keys) {
      const { usedAt, ok, failed, messages, bytesOut } = kept;
      if (now - usedAt < this.#idleMs) continue;
      this.#keys.delete(id);
      kept.owner = null;
      this.#crowd = {};
      this.otherKeys.ok += ok;
      this.otherKeys.failed += failed;
      this.otherKeys.messages += messages;
      this.otherKeys.bytesOut += bytesOut;
    }
  }
}

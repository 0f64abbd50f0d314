import { Lru } from './lru.ts';

/** A value with a weight, such as its size in bytes. The weight must not change. */
export type Weighted = Readonly<{ weight: number }>;

/** LRU map bounded by the number and the total weight of its entries. */
export class WeightedLru<Key, Value extends Weighted> {
  readonly #entries: Lru<Key, Value>;
  readonly #entriesMax: number;
  readonly #weightMax: number;
  #weight = 0;
  #evictions = 0;

  constructor(entriesMax: number, weightMax: number) {
    // One entry more than the limit, so that this class evicts before the inner map does.
    this.#entries = new Lru(entriesMax + 1, 0);
    this.#entriesMax = entriesMax;
    this.#weightMax = weightMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  get evictions(): number {
    return this.#evictions;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Inserts or replaces a value. A value heavier than the limit is not stored. */
  set(key: Key, value: Value): void {
    this.delete(key);
    if (value.weight > this.#weightMax) return;
    this.#entries.set(key, value);
    this.#weight += value.weight;
    while (this.#weight > this.#weightMax || this.#entries.size > this.#entriesMax) this.#deleteOldest();
  }

  delete(key: Key): boolean {
    const value = this.#entries.get(key);
    if (value === undefined) return false;
    this.#weight -= value.weight;
    return this.#entries.delete(key);
  }

  /** Checks the next `checks` entries, round-robin across calls, and removes the expired ones. */
  sweep(checks: number, isExpired: (value: Value) => boolean): void {
    for (let i = 0; i < checks; i++) {
      const entry = this.#entries.next();
      if (entry !== null && isExpired(entry.value)) this.delete(entry.key);
    }
  }

  #deleteOldest(): void {
    const oldest = this.#entries.deleteOldest();
    this.#weight -= oldest?.weight ?? 0;
    this.#evictions++;
  }
}

import { Lru } from './lru.ts';

/** Says itself what it takes, such as bytes; it does not change. */
export type Weighted = Readonly<{ weight: number }>;

/** A map that is bounded by the number of its entries and by what they weigh, and forgets what was not asked for longest. */
export class WeightedLru<Key, Value extends Weighted> {
  readonly #entries: Lru<Key, Value>;
  readonly #entriesMax: number;
  readonly #weightMax: number;
  #weight = 0;
  #evictions = 0;

  constructor(entriesMax: number, weightMax: number) {
    // One more, so that nothing is ever forgotten in silence.
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

  /** Entries that were forgotten to make room. */
  get evictions(): number {
    return this.#evictions;
  }

  /** The value, which counts as used just now. */
  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Puts the value in as the most recent one; what is heavier than all may be is not taken. */
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

  /** Looks at so many entries in turn, at all of them by and by, and forgets those that are over. */
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

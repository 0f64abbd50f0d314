import type { Weighted } from './weighted-lru.ts';

/**
 * Two-generation cache bounded by number and weight: cheaper per entry than an LRU list. When the young generation
 * is full it replaces the old one; an entry used meanwhile survives.
 */
export class RecentMap<Key, Value extends Weighted> {
  readonly #entriesMax: number;
  readonly #weightMax: number;
  #young = new Map<Key, Value>();
  #old: Map<Key, Value> = new Map();
  #youngWeight = 0;

  constructor(entriesMax: number, weightMax: number) {
    this.#entriesMax = entriesMax / 2;
    this.#weightMax = weightMax / 2;
  }

  /** Number of entries; one in both generations counts twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  /** Inserts a value that is absent. One heavier than half of the limit is ignored. */
  set(key: Key, value: Value): void {
    if (value.weight > this.#weightMax) return;
    const isFull =
      this.#young.size + 1 > this.#entriesMax || this.#youngWeight + value.weight > this.#weightMax;
    if (isFull) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWeight = 0;
    }
    this.#young.set(key, value);
    this.#youngWeight += value.weight;
  }
}

import type { Weighted } from './weighted-lru.ts';

/**
 * What was asked for lately, bounded by number and weight, for much that is asked for once: it forgets half at a time,
 * which costs next to nothing, where an order of use would cost more than what it saves. Two maps: the younger takes
 * what is new and what is asked for again; when it is full it becomes the older one, and the older one is forgotten.
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

  /** Entries that are held, some of them twice. */
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

  /** Puts a value in that is not there; what is heavier than half of all may be is not taken. */
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

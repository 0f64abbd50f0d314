/** Node of a linked list ordered by last use. */
type Entry<Key, Value> = {
  readonly key: Key;
  value: Value;
  newer: Entry<Key, Value> | null;
  older: Entry<Key, Value> | null;
  /** Value of `#links` when this entry was last moved to the front. */
  linkedAt: number;
};

/**
 * Map of bounded size that evicts the least recently used entry. A linked list holds the order of use. Using one of the
 * newest entries (a quarter by default) does not move it, because relinking touches entries scattered in memory.
 */
export class Lru<Key, Value> {
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  readonly #entriesMax: number;
  /** Using an entry moves it to the front only if this many others have moved there since its last move. */
  readonly #near: number;
  readonly #onEvicted: ((value: Value) => void) | null;
  #links = 0;
  #newest: Entry<Key, Value> | null = null;
  #oldest: Entry<Key, Value> | null = null;
  #cursor: Iterator<Entry<Key, Value>> | null = null;

  /** @param near - number of newest entries whose order is not maintained; use 0 with `deleteOldest`. */
  constructor(
    entriesMax: number,
    near: number = Math.floor(entriesMax / 4),
    onEvicted: ((value: Value) => void) | null = null,
  ) {
    if (!(entriesMax >= 1)) throw new RangeError('an Lru holds at least one entry');
    this.#entriesMax = entriesMax;
    this.#near = near;
    this.#onEvicted = onEvicted;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#touch(entry);
    return entry.value;
  }

  /** Inserts or replaces a value, evicting the least recently used entry if needed. */
  set(key: Key, value: Value): void {
    const existing = this.#entries.get(key);
    if (existing !== undefined) {
      existing.value = value;
      this.#touch(existing);
      return;
    }
    if (this.#entries.size >= this.#entriesMax) this.#evictOldest();
    const entry = { key, value, newer: null, older: null, linkedAt: 0 };
    this.#entries.set(key, entry);
    this.#link(entry);
  }

  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    this.#unlink(entry);
    return this.#entries.delete(key);
  }

  /** Removes the least recently used entry. @returns undefined if empty. */
  deleteOldest(): Value | undefined {
    const oldest = this.#oldest;
    if (oldest === null) return undefined;
    this.delete(oldest.key);
    return oldest.value;
  }

  /** Returns the entries one by one, which does not count as use; null at the end of each round, or if empty. */
  next(): Readonly<{ key: Key; value: Value }> | null {
    this.#cursor ??= this.#entries.values();
    const { value, done } = this.#cursor.next();
    if (done !== true) return value;
    this.#cursor = null;
    return null;
  }

  #evictOldest(): void {
    const evicted = this.deleteOldest();
    if (evicted !== undefined) this.#onEvicted?.(evicted);
  }

  #touch(entry: Entry<Key, Value>): void {
    if (entry === this.#newest || this.#links - entry.linkedAt < this.#near) return;
    this.#unlink(entry);
    this.#link(entry);
  }

  #link(entry: Entry<Key, Value>): void {
    entry.older = this.#newest;
    entry.newer = null;
    entry.linkedAt = ++this.#links;
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ newer, older }: Entry<Key, Value>): void {
    if (newer === null) this.#newest = older;
    else newer.older = older;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
  }
}

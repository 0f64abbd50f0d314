/** The list goes from most to least recently used. */
type Entry<Key, Value> = {
  readonly key: Key;
  value: Value;
  newer: Entry<Key, Value> | null;
  older: Entry<Key, Value> | null;
  /** Number of insertions at the front when this entry was last moved there. */
  linkedAt: number;
};

/**
 * Map of bounded size that evicts the least recently used entry. The order is a linked list. The newest quarter is not
 * relinked on use, because that touches neighbors anywhere in memory.
 */
export class Lru<Key, Value> {
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  readonly #entriesMax: number;
  /** An entry is moved to the front again only after this many others. */
  readonly #near: number;
  readonly #onEvicted: ((value: Value) => void) | null;
  #links = 0;
  #newest: Entry<Key, Value> | null = null;
  #oldest: Entry<Key, Value> | null = null;
  #cursor: Iterator<Entry<Key, Value>> | null = null;

  /** @param near - newest entries whose order is not maintained; 0 if the map may never be full. */
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

  /** The next entry, round after round, without counting as a use; null at the end of each round, and if empty. */
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

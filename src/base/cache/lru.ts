/** A value in the chain from the one used last to the one used least recently. */
type Entry<Key, Value> = {
  readonly key: Key;
  value: Value;
  newer: Entry<Key, Value> | null;
  older: Entry<Key, Value> | null;
  /** Entries that had been put first when this one was put there last. */
  linkedAt: number;
};

/**
 * A map of bounded size that forgets what was not asked for longest. The order is a chain beside the map: to
 * ask for a value relinks it and leaves the map alone, which is cheaper than taking it out and putting it back. Among
 * the newest quarter the order is not kept: to relink is to touch neighbours that lie anywhere in memory, and of many
 * values that are asked for in turn each would cost it.
 */
export class Lru<Key, Value> {
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  readonly #entriesMax: number;
  /** Entries put first since one was that need not be put there again. */
  readonly #near: number;
  readonly #onEvicted: ((value: Value) => void) | null;
  #links = 0;
  #newest: Entry<Key, Value> | null = null;
  #oldest: Entry<Key, Value> | null = null;
  #cursor: Iterator<Entry<Key, Value>> | null = null;

  /**
   * @param near - entries among which the order is not kept; 0 for a map that may never be as full as it may.
   * @param onForgotten - hears of each value that makes room for another.
   */
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

  /** The value, which counts as used just now. */
  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#touch(entry);
    return entry.value;
  }

  /** Puts the value in as the most recent one; makes room when there is none. */
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

  /** Takes out what was not asked for longest. @returns undefined when there is nothing. */
  deleteOldest(): Value | undefined {
    const oldest = this.#oldest;
    if (oldest === null) return undefined;
    this.delete(oldest.key);
    return oldest.value;
  }

  /**
   * Its entries one after the other, and from the first again after the last, whatever comes and goes meanwhile. To look
   * at one does not count as asking for it.
   * @returns null when there is none, or when it begins again.
   */
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

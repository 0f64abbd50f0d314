/** Values by key, each there for as long as somebody needs it. */
export class RefCountedMap<Key, Value> {
  readonly #entries = new Map<Key, { readonly value: Value; count: number }>();

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  keys(): Iterable<Key> {
    return this.#entries.keys();
  }

  *values(): Iterable<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /**
   * Somebody needs a value.
   * @param make - called when nobody needed it before.
   * @returns what ends that; harmless when it is over.
   */
  add(key: Key, make: () => Value): () => void {
    const entry = this.#entries.get(key) ?? { value: make(), count: 0 };
    entry.count++;
    this.#entries.set(key, entry);
    let isActive = true;
    return () => {
      if (!isActive) return;
      isActive = false;
      entry.count--;
      if (entry.count === 0) this.#entries.delete(key);
    };
  }
}

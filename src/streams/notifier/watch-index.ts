/** Watchers by the key they wait for, so that an event finds its own without asking all the others. */
export class WatchIndex<Key, Watcher> {
  readonly #byKey = new Map<Key, Set<Watcher>>();

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  add(key: Key, watcher: Watcher): void {
    const watchers = this.#byKey.get(key);
    if (watchers === undefined) this.#byKey.set(key, new Set([watcher]));
    else watchers.add(watcher);
  }

  delete(key: Key, watcher: Watcher): void {
    const watchers = this.#byKey.get(key);
    if (watchers === undefined) return;
    watchers.delete(watcher);
    if (watchers.size === 0) this.#byKey.delete(key);
  }

  has(key: Key): boolean {
    return this.#byKey.has(key);
  }

  /** undefined when nobody waits for the key. */
  of(key: Key): ReadonlySet<Watcher> | undefined {
    return this.#byKey.get(key);
  }
}

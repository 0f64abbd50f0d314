import { AddressTable } from '../filters/address-table.ts';
import type { Watcher } from './watcher.ts';

type Place<Rule> = { watchers: Watcher<Rule>[]; sweptIn: number };

const NOBODY: readonly never[] = [];

/** Watchers by their keys. */
export class WatchTable<Rule> {
  readonly #places = new AddressTable<Place<Rule>>();

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  add(watcher: Watcher<Rule>): void {
    for (const key of watcher.keys) {
      const place = this.#places.get(key, 0);
      if (place === undefined) this.#places.set(key, 0, { watchers: [watcher], sweptIn: 0 });
      else place.watchers.push(watcher);
    }
  }

  /**
   * Removes whoever is gone from where keys lead.
   * @param run - the number of the sweep, which looks at each place only once however many keys lead there.
   */
  sweep(keys: readonly Uint8Array[], run: number): void {
    for (const key of keys) {
      const place = this.#places.get(key, 0);
      if (place === undefined || place.sweptIn === run) continue;
      place.sweptIn = run;
      place.watchers = place.watchers.filter(({ isGone }) => !isGone);
      if (place.watchers.length === 0) this.#places.delete(key, 0);
    }
  }

  /** Who waits for the key that is the 32 bytes from `at` on. */
  of(bytes: Uint8Array, at: number): readonly Watcher<Rule>[] {
    const place = this.#places.get(bytes, at);
    return place === undefined ? NOBODY : place.watchers;
  }
}

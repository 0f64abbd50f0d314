import type { FilterGroup } from './filter-group.ts';
import type { Watcher } from './watcher.ts';

/** The lanes that are told of one update. Used again for each. */
export class Matches {
  readonly #groups: (FilterGroup | null)[] = [];
  #count = 0;
  #generation = 0;

  get count(): number {
    return this.#count;
  }

  /** Another update is looked at. */
  start(): void {
    this.#generation += 1;
  }

  /** Whether a watcher has not been looked at yet; then it has. */
  isNew(watcher: Watcher<unknown>): boolean {
    if (watcher.matchedIn === this.#generation) return false;
    watcher.matchedIn = this.#generation;
    return true;
  }

  add(watcher: Watcher<unknown>): void {
    const { group } = watcher;
    if (group.addMatch(watcher)) this.#groups[this.#count++] = group;
  }

  /** Takes out one of the lanes. */
  take(): FilterGroup | null {
    if (this.#count === 0) return null;
    const group = this.#groups[--this.#count] as FilterGroup;
    this.#groups[this.#count] = null;
    return group;
  }
}

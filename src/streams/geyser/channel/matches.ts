import type { Lane } from './lane.ts';
import type { Watcher } from './watcher.ts';

/** The lanes that are told of one update. Used again for each. */
export class Matches {
  readonly #lanes: (Lane | null)[] = [];
  #count = 0;
  #run = 0;

  get count(): number {
    return this.#count;
  }

  /** Another update is looked at. */
  begin(): void {
    this.#run += 1;
  }

  /** Whether a watcher has not been looked at yet; then it has. */
  isNew(watcher: Watcher<unknown>): boolean {
    if (watcher.seenIn === this.#run) return false;
    watcher.seenIn = this.#run;
    return true;
  }

  add(watcher: Watcher<unknown>): void {
    const { lane } = watcher;
    if (lane.hit(watcher)) this.#lanes[this.#count++] = lane;
  }

  /** Takes out one of the lanes. */
  take(): Lane | null {
    if (this.#count === 0) return null;
    const lane = this.#lanes[--this.#count] as Lane;
    this.#lanes[this.#count] = null;
    return lane;
  }
}

import type { Lane } from './lane.ts';
import type { Listener } from './listener.ts';
import type { Watcher } from './watcher.ts';

/** The lanes that are told of one update. Used again for each. */
export class Matches {
  readonly #lanes: (Lane | null)[] = [];
  #count = 0;
  #run = 0;
  #only: Listener['sink'] | null = null;

  get count(): number {
    return this.#count;
  }

  /** @param only - the one who is told; null: everybody. */
  begin(only: Listener['sink'] | null): void {
    this.#run += 1;
    this.#only = only;
  }

  /** Whether a watcher has not been looked at yet, and is one of those who are told. */
  isNew(watcher: Watcher<unknown>): boolean {
    if (watcher.seenIn === this.#run) return false;
    watcher.seenIn = this.#run;
    return this.#only === null || watcher.lane.listener.sink === this.#only;
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

import type { Listener } from './listener.ts';
import { NameSets } from './name-sets.ts';

/** More are sorted by the engine, which makes a view of them for it. */
const SORTED_HERE_MAX = 32;

/** The filters of one kind of one member: whatever of them passes an update is one message. */
export class Lane {
  readonly listener: Listener;
  readonly #names: NameSets;
  /** Ordinals of the filters that passed. */
  readonly #hits: Int32Array;
  #count = 0;

  /** @param names - of the filters, by their ordinals. */
  constructor(listener: Listener, names: readonly string[]) {
    this.listener = listener;
    this.#names = new NameSets(names);
    this.#hits = new Int32Array(names.length);
  }

  /**
   * A filter passed, which has not been said of this update.
   * @returns whether it is the first one.
   */
  hit(ordinal: number): boolean {
    this.#hits[this.#count++] = ordinal;
    return this.#count === 1;
  }

  /** Encoded names of the filters that passed; then none has. */
  takeNames(): Uint8Array {
    const count = this.#count;
    this.#count = 0;
    if (count > SORTED_HERE_MAX) this.#hits.subarray(0, count).sort();
    else if (count > 1) sortFirst(this.#hits, count);
    return this.#names.of(this.#hits, count);
  }
}

function sortFirst(values: Int32Array, count: number): void {
  for (let i = 1; i < count; i++) {
    const value = values[i] as number;
    let to = i;
    while (to > 0 && (values[to - 1] as number) > value) {
      values[to] = values[to - 1] as number;
      to -= 1;
    }
    values[to] = value;
  }
}

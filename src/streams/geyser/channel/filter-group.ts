import type { Listener } from './listener.ts';
import { NameSets } from './name-sets.ts';

/** More are sorted by the engine, which makes a view of them for it. */
const INSERTION_SORT_MAX = 32;

/** A filter of a lane, as it passes. */
export type GroupFilter = {
  readonly ordinal: number;
  /** Its encoded name alone, kept with it since most updates pass one filter; null: not needed yet. */
  ownNames: Uint8Array | null;
};

/** The filters of one kind of one member: whatever of them passes an update is one message. */
export class FilterGroup {
  readonly listener: Listener;
  #count = 0;
  #first: GroupFilter | null = null;
  /** Ordinals of the filters that passed, when there is more than one. */
  readonly #ordinals: Int32Array;
  readonly #names: NameSets;

  /** @param names - of the filters, by their ordinals. */
  constructor(listener: Listener, names: readonly string[]) {
    this.listener = listener;
    this.#ordinals = new Int32Array(names.length);
    this.#names = new NameSets(names);
  }

  /**
   * A filter passed, which has not been said of this update.
   * @returns whether it is the first one.
   */
  addMatch(filter: GroupFilter): boolean {
    const at = this.#count++;
    if (at === 0) {
      this.#first = filter;
      return true;
    }
    if (at === 1) this.#ordinals[0] = (this.#first as GroupFilter).ordinal;
    this.#ordinals[at] = filter.ordinal;
    return false;
  }

  /** Encoded names of the filters that passed, of which there is one at least; then none has. */
  takeNames(): Uint8Array {
    const count = this.#count;
    this.#count = 0;
    if (count === 1) return this.#ownNames(this.#first as GroupFilter);
    if (count > INSERTION_SORT_MAX) this.#ordinals.subarray(0, count).sort();
    else sortFirst(this.#ordinals, count);
    return this.#names.of(this.#ordinals, count);
  }

  #ownNames(filter: GroupFilter): Uint8Array {
    filter.ownNames ??= this.#names.one(filter.ordinal);
    return filter.ownNames;
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

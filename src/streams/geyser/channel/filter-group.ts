import { Lru } from '../../../base/cache/lru.ts';
import { bytesKey } from '../../../base/text/bytes-key.ts';
import { encodeNames } from '../../../protocol/geyser/encode/envelope.ts';
import type { DataSlice } from '../../../protocol/geyser/subscribe-request.ts';
import { slicesKey } from '../filters/data-slices.ts';
import type { GeyserSink } from '../geyser-sink.ts';

const ENCODED_SETS_MAX = 4096;
/** Longer encodings are rare and not shared. */
const SHARED_MAX_BYTES = 256;

const encodedSets = new Lru<string, Uint8Array>(ENCODED_SETS_MAX);

/** Encodes filter names. Equal lists of names share one array, by which servers recognize repeated messages. */
export function sharedNames(names: readonly string[]): Uint8Array {
  const encoded = encodeNames(names);
  if (encoded.length > SHARED_MAX_BYTES) return encoded;
  const text = bytesKey(encoded);
  const existing = encodedSets.get(text);
  if (existing !== undefined) return existing;
  encodedSets.set(text, encoded);
  return encoded;
}

const SETS_MAX = 1024;
const BYTES_MAX = 64 * 1024;

class NameSets {
  readonly #names: readonly string[];
  readonly #sets = new Map<number, Readonly<{ ordinals: Int32Array; encoded: Uint8Array }>>();
  #bytes = 0;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  one(ordinal: number): Uint8Array {
    return sharedNames([this.#names[ordinal] as string]);
  }

  /** Uses only the first `count` ordinals, which must be in ascending order. */
  of(ordinals: Int32Array, count: number): Uint8Array {
    let hash = count;
    for (let i = 0; i < count; i++)
      hash = Math.imul(hash ^ (ordinals[i] as number), 0x9e3779b1) ^ (hash >>> 15);
    const existing = this.#sets.get(hash);
    if (existing !== undefined && isSame(existing.ordinals, ordinals, count)) return existing.encoded;
    return this.#encode(hash, ordinals.slice(0, count));
  }

  #encode(hash: number, ordinals: Int32Array): Uint8Array {
    const encoded = sharedNames(Array.from(ordinals, (ordinal) => this.#names[ordinal] as string));
    this.#bytes += encoded.length + ordinals.byteLength;
    if (this.#bytes > BYTES_MAX || this.#sets.size >= SETS_MAX) {
      this.#sets.clear();
      this.#bytes = encoded.length + ordinals.byteLength;
    }
    if (this.#bytes <= BYTES_MAX) this.#sets.set(hash, { ordinals, encoded });
    else this.#bytes = 0;
    return encoded;
  }
}

function isSame(existing: Int32Array, ordinals: Int32Array, count: number): boolean {
  if (existing.length !== count) return false;
  for (let i = 0; i < count; i++) {
    if (existing[i] !== ordinals[i]) return false;
  }
  return true;
}

export class Matches {
  readonly #groups: (FilterGroup | null)[] = [];
  count = 0;
  #generation = 0;

  start(): void {
    this.#generation += 1;
  }

  /** Marks a watcher as checked for the current update. @returns false if it already was. */
  markChecked(watcher: Watcher<unknown>): boolean {
    if (watcher.checkedIn === this.#generation) return false;
    watcher.checkedIn = this.#generation;
    return true;
  }

  add(watcher: Watcher<unknown>): void {
    const { group } = watcher;
    if (group.addMatch(watcher)) this.#groups[this.count++] = group;
  }

  take(): FilterGroup | null {
    if (this.count === 0) return null;
    const group = this.#groups[--this.count] as FilterGroup;
    this.#groups[this.count] = null;
    return group;
  }
}

/** Receives a member's messages for as long as the member's filters stay the same. */
export class Listener {
  readonly sink: GeyserSink;
  /** Null for all account data. */
  readonly slices: readonly DataSlice[] | null;
  readonly slicesKey: string;
  isRemoved = false;

  constructor(sink: GeyserSink, slices: readonly DataSlice[] | null) {
    this.sink = sink;
    this.slices = slices;
    this.slicesKey = slicesKey(slices);
  }
}

/** Longer lists use the engine's sort, which needs a typed array view. */
const INSERTION_SORT_MAX = 32;

type GroupFilter = {
  readonly ordinal: number;
  /** Encoded name of this filter, cached because most updates match only one filter; null until needed. */
  ownNames: Uint8Array | null;
};

/** All filters of one kind that belong to one member. The filters that match an update share one message. */
export class FilterGroup {
  readonly listener: Listener;
  #count = 0;
  #first: GroupFilter | null = null;
  /** Ordinals of the matched filters, if there are several. */
  readonly #ordinals: Int32Array;
  readonly #names: NameSets;

  constructor(listener: Listener, names: readonly string[]) {
    this.listener = listener;
    this.#ordinals = new Int32Array(names.length);
    this.#names = new NameSets(names);
  }

  /** Adds a filter that matches the current update. Call once per filter. @returns true for the first filter. */
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

export type ChainEntry<Rule> = { readonly watcher: Watcher<Rule>; next: ChainEntry<Rule> | null };

/** Most filters have one key and serve as their own chain entry, so that a match touches few memory locations. */
export class Watcher<Rule> implements ChainEntry<Rule> {
  readonly rule: Rule;
  readonly group: FilterGroup;
  readonly watcher = this;
  next: ChainEntry<Rule> | null = null;
  count = 1;
  /** Id of the last sweep that visited the chain. */
  sweptBy = 0;
  readonly ordinal: number;
  ownNames: Uint8Array | null = null;
  /** Generation of `Matches` in which this watcher was last checked. */
  checkedIn = 0;
  /** Keys of this filter in the indexes, 32 bytes each. */
  keys: readonly Uint8Array[] = [];
  /**
   * Shape list for this filter's owner, or for filters without an owner; null if the filter has several owners. A match
   * found through this list needs no owner check.
   */
  ownerShapes: object | null = null;
  /** Whether this watcher is in only one chain and serves as its own entry there. */
  isOwnEntry = false;
  /** Whether a match on one key is sufficient. */
  isCertain = false;
  isRemoved = false;

  constructor(rule: Rule, group: FilterGroup, ordinal: number) {
    this.rule = rule;
    this.group = group;
    this.ordinal = ordinal;
  }
}

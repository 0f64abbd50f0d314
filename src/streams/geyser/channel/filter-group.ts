import { Lru } from '../../../base/cache/lru.ts';
import { bytesKey } from '../../../base/text/bytes-key.ts';
import { encodeNames } from '../../../protocol/geyser/encode/envelope.ts';
import type { DataSlice } from '../../../protocol/geyser/subscribe-request.ts';
import { slicesKey } from '../filters/data-slices.ts';
import type { GeyserSink } from '../geyser-sink.ts';

/** Name sets that are remembered; a few hundred bytes each. */
const ENCODED_SETS_MAX = 4096;
/** Longer ones are rare, and are not shared. */
const SHARED_MAX_BYTES = 256;

/** By what they are. */
const encodedSets = new Lru<string, Uint8Array>(ENCODED_SETS_MAX);

/**
 * Encodes names of filters. Streams whose filters have equal names have the same bytes, by which a server knows
 * messages that are equal to the last.
 */
export function sharedNames(names: readonly string[]): Uint8Array {
  const encoded = encodeNames(names);
  if (encoded.length > SHARED_MAX_BYTES) return encoded;
  const text = bytesKey(encoded);
  const existing = encodedSets.get(text);
  if (existing !== undefined) return existing;
  encodedSets.set(text, encoded);
  return encoded;
}

/** Sets of more than one name that are remembered, and their bytes altogether. */
const SETS_MAX = 1024;
const BYTES_MAX = 64 * 1024;

type NameSet = Readonly<{ ordinals: Int32Array; encoded: Uint8Array }>;

/** Encoded names of filters that passed together, each set encoded once as long as there are not too many of them. */
class NameSets {
  readonly #names: readonly string[];
  readonly #sets = new Map<number, NameSet>();
  #bytes = 0;

  /** @param names - of the filters, by their ordinals. */
  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** One name alone, which is not remembered here. */
  one(ordinal: number): Uint8Array {
    return sharedNames([this.#names[ordinal] as string]);
  }

  /** @param ordinals - the first `count` of them, ascending. */
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

/** Whom messages go to, for as long as what it wants stays the same. */
export class Listener {
  readonly sink: GeyserSink;
  /** Parts of accounts' data that it wants; null: all of it. */
  readonly slices: readonly DataSlice[] | null;
  /** Equal for equal slices. */
  readonly slicesKey: string;
  isRemoved = false;

  constructor(sink: GeyserSink, slices: readonly DataSlice[] | null) {
    this.sink = sink;
    this.slices = slices;
    this.slicesKey = slicesKey(slices);
  }
}

/** More are sorted by the engine, which makes a view of them for it. */
const INSERTION_SORT_MAX = 32;

/** A filter of a lane, as it passes. */
type GroupFilter = {
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

/** A watcher in the chain of those who wait for one key. */
export type ChainEntry<Rule> = { readonly watcher: Watcher<Rule>; next: ChainEntry<Rule> | null };

/**
 * One filter of a lane, in the indexes. Most wait for one key alone, and then it is its own post: what an update
 * leads to should lie in few places of memory.
 */
export class Watcher<Rule> implements ChainEntry<Rule> {
  readonly rule: Rule;
  readonly group: FilterGroup;
  readonly watcher = this;
  next: ChainEntry<Rule> | null = null;
  /** Posts in the chain that it begins. */
  count = 1;
  /** The last sweep that looked at that chain. */
  sweptBy = 0;
  readonly ordinal: number;
  ownNames: Uint8Array | null = null;
  /** The run of matching that has looked at it. */
  matchedIn = 0;
  /** 32 bytes each: where it is in the indexes. */
  keys: readonly Uint8Array[] = [];
  /** What stands for its owner in the index, where it asks for one alone: to compare it is to compare the owner. */
  ownerShapes: object | null = null;
  /** Whether it is in one chain only, and its own post there. */
  isOwnEntry = false;
  /** Whether one of its keys is all that it asks for. */
  isCertain = false;
  isRemoved = false;

  constructor(rule: Rule, group: FilterGroup, ordinal: number) {
    this.rule = rule;
    this.group = group;
    this.ordinal = ordinal;
  }
}

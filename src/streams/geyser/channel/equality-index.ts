import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountEqualities } from '../filters/account-data-rule.ts';
import type { AccountRule } from '../filters/account-rule.ts';
import { AddressTable } from '../filters/address-table.ts';
import {
  hashAddress,
  hashBytes,
  hashNumber,
  NUMBER_PIECES,
  piecesOf,
  randomHash,
} from '../filters/key-hash.ts';
import type { ChainEntry, Matches, Watcher } from './filter-group.ts';
import { type ChainHead, chainHead, insert, sweepChain } from './watch-table.ts';

/** A compared range of account data. `piece`: number of 3-byte pieces that precede this range in the key. */
type Part = Readonly<{ at: number; length: number; piece: number }>;

/** Returns the same text for all filters that compare the same fields. */
const shapeText = ({ memcmps, dataSize, lamports }: AccountEqualities): string =>
  `${memcmps.map(({ at, bytes }) => `${at}+${bytes.length}`)} ${dataSize !== null} ${lamports !== null}`;

let shapeCount = 0;

/**
 * The fields that a filter compares. Their values form the filter's key. Only the key's hash is stored, so a match must
 * be verified.
 */
class KeyShape {
  readonly number = ++shapeCount;
  readonly text: string;
  /** End of the last compared range. Accounts with less data have no key. */
  readonly end: number;
  readonly #parts: readonly Part[];
  readonly #pieces: number;
  readonly #hasSize: boolean;
  readonly #hasLamports: boolean;
  /** Random, so that equal values in two shapes have different hashes. */
  readonly #first = randomHash();

  constructor(equalities: AccountEqualities) {
    let piece = 0;
    this.#parts = equalities.memcmps.map(({ at, bytes: { length } }) => {
      const part = { at, length, piece };
      piece += piecesOf(length);
      return part;
    });
    this.text = shapeText(equalities);
    this.end = Math.max(0, ...this.#parts.map(({ at, length }) => at + length));
    this.#pieces = piece;
    this.#hasSize = equalities.dataSize !== null;
    this.#hasLamports = equalities.lamports !== null;
  }

  /** The account's data must be at least `end` bytes long. */
  hashOf({ data, lamports }: RawAccount): number {
    let hash = this.#first;
    for (const { at, length, piece } of this.#parts) hash = hashBytes(hash, piece, data, at, length);
    return this.#finishHash(hash, data.length, lamports);
  }

  hashOfFilter({ memcmps, dataSize, lamports }: AccountEqualities): number {
    let hash = this.#first;
    for (const [nth, { bytes }] of memcmps.entries())
      hash = hashBytes(hash, (this.#parts[nth] as Part).piece, bytes, 0, bytes.length);
    return this.#finishHash(hash, dataSize ?? 0, lamports ?? 0n);
  }

  #finishHash(before: number, size: number, lamports: bigint): number {
    let hash = before;
    if (this.#hasSize) hash = hashNumber(hash, this.#pieces, size);
    if (this.#hasLamports) hash = hashNumber(hash, this.#pieces + NUMBER_PIECES, Number(lamports));
    return hash;
  }
}

type SharedShape = { readonly shape: KeyShape; uses: number };

type ShapeUse = { readonly shape: KeyShape; filters: number };

const order = (left: KeyShape, right: KeyShape): number => left.end - right.end || left.number - right.number;

/** Shapes of all filters for one owner, or of all filters without an owner; ordered by `end`. */
class ShapeList {
  #uses: ShapeUse[] = [];

  get shapes(): readonly Readonly<ShapeUse>[] {
    return this.#uses;
  }

  get isEmpty(): boolean {
    return this.#uses.length === 0;
  }

  use(shared: SharedShape): void {
    const at = this.#indexOf(shared.shape);
    const use = this.#uses[at];
    if (use?.shape === shared.shape) {
      use.filters += 1;
      return;
    }
    const first = { shape: shared.shape, filters: 1 };
    // A literal, because most lists stay at one shape and `splice` would allocate spare capacity.
    if (this.isEmpty) this.#uses = [first];
    else this.#uses.splice(at, 0, first);
    shared.uses += 1;
  }

  release(shared: SharedShape): void {
    const at = this.#indexOf(shared.shape);
    const use = this.#uses[at];
    if (use?.shape !== shared.shape || --use.filters > 0) return;
    this.#uses.splice(at, 1);
    shared.uses -= 1;
  }

  #indexOf(shape: KeyShape): number {
    let [from, to] = [0, this.#uses.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (order((this.#uses[middle] as ShapeUse).shape, shape) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

type EqualWatcher = Watcher<AccountRule> & { rule: { equalities: AccountEqualities } };

export const isEqualWatcher = (watcher: Watcher<AccountRule>): watcher is EqualWatcher =>
  watcher.rule.equalities !== null;

/** Used instead of the owner's hash for filters without an owner. */
const ANY_OWNER = 0;

/**
 * Index of account filters by their equality conditions: owner, bytes of the data, data size, lamports.
 *
 *     #byOwner  shapes of filters, by required owner; #anyOwner: shapes of filters without an owner
 *     #chains   filters, by the hash of owner and key
 *
 * A filter's shape is the set of fields that it compares, and its key is the values of these fields. For each shape
 * used with its owner, an account has one key and is compared only with the filters that have this key. The cost grows
 * with the number of shapes (program layouts determine these), not with the number of filters. Shapes that reach
 * beyond the account's data are skipped.
 */
export class EqualityIndex {
  readonly #shapes = new Map<string, SharedShape>();
  readonly #byOwner = new AddressTable<ShapeList>();
  readonly #anyOwner = new ShapeList();
  readonly #chains = new Map<number, ChainHead<AccountRule>>();

  get size(): number {
    return this.#byOwner.size + this.#shapes.size + this.#chains.size;
  }

  add(watcher: EqualWatcher): void {
    const { owners, equalities } = watcher.rule;
    watcher.isOwnEntry = owners === null || owners.addresses.length === 1;
    const shared = this.#sharedShape(equalities);
    const filterHash = shared.shape.hashOfFilter(equalities);
    if (owners === null) this.#link(watcher, this.#anyOwner, shared, ANY_OWNER + filterHash);
    else
      for (const owner of owners.addresses)
        this.#link(watcher, this.#listOf(owner), shared, hashAddress(owner, 0) + filterHash);
  }

  sweep({ rule: { owners, equalities } }: EqualWatcher, sweepId: number): void {
    const shared = this.#sharedShape(equalities);
    const filterHash = shared.shape.hashOfFilter(equalities);
    if (owners === null) this.#unlink(this.#anyOwner, shared, ANY_OWNER + filterHash, sweepId);
    else
      for (const owner of owners.addresses) {
        const list = this.#listOf(owner);
        this.#unlink(list, shared, hashAddress(owner, 0) + filterHash, sweepId);
        if (list.isEmpty) this.#byOwner.delete(owner, 0);
      }
    if (shared.uses === 0) this.#shapes.delete(shared.shape.text);
  }

  match(account: RawAccount, matches: Matches): void {
    if (this.#chains.size === 0) return;
    this.#matchAny(this.#anyOwner, ANY_OWNER, account, matches);
    const shapes = this.#byOwner.get(account.owner, 0);
    if (shapes !== undefined) this.#matchAny(shapes, hashAddress(account.owner, 0), account, matches);
  }

  #matchAny(list: ShapeList, ownerHash: number, account: RawAccount, matches: Matches): void {
    const { length } = account.data;
    for (const { shape } of list.shapes) {
      if (shape.end > length) break;
      let entry: ChainEntry<AccountRule> | null = this.#chains.get(ownerHash + shape.hashOf(account)) ?? null;
      for (; entry !== null; entry = entry.next) {
        const { watcher } = entry;
        if (!matches.markChecked(watcher)) continue;
        const { rule } = watcher;
        if (watcher.ownerShapes === list ? rule.passesGivenOwner(account) : rule.passes(account))
          matches.add(watcher);
      }
    }
  }

  #link(watcher: EqualWatcher, list: ShapeList, shared: SharedShape, key: number): void {
    list.use(shared);
    if (watcher.isOwnEntry) watcher.ownerShapes = list;
    const first = this.#chains.get(key);
    if (first === undefined) this.#chains.set(key, chainHead(watcher));
    else insert(first, watcher);
  }

  #unlink(list: ShapeList, shared: SharedShape, key: number, sweepId: number): void {
    list.release(shared);
    const first = this.#chains.get(key);
    if (first === undefined) return;
    const remaining = sweepChain(first, sweepId);
    if (remaining === null) this.#chains.delete(key);
    else if (remaining !== first) this.#chains.set(key, remaining);
  }

  #sharedShape(equalities: AccountEqualities): SharedShape {
    const text = shapeText(equalities);
    const shared = this.#shapes.get(text) ?? { shape: new KeyShape(equalities), uses: 0 };
    this.#shapes.set(text, shared);
    return shared;
  }

  #listOf(owner: Uint8Array): ShapeList {
    const list = this.#byOwner.get(owner, 0) ?? new ShapeList();
    this.#byOwner.set(owner, 0, list);
    return list;
  }
}

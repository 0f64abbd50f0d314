import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountEqualities } from '../filters/account-data-rule.ts';
import type { AccountRule } from '../filters/account-rule.ts';
import { AddressTable } from '../filters/address-table.ts';
import { hashAddress } from '../filters/key-hash.ts';
import type { ChainEntry, Matches, Watcher } from './filter-group.ts';
import { KeyShape, ShapeList, type SharedShape, shapeText } from './key-shape.ts';
import { type ChainHead, chainHead, insert, sweepChain } from './watch-table.ts';

/** A filter with an equality condition on the data or the balance. */
type EqualWatcher = Watcher<AccountRule> & { rule: { equalities: AccountEqualities } };

export const isEqualWatcher = (watcher: Watcher<AccountRule>): watcher is EqualWatcher =>
  watcher.rule.equalities !== null;

/** Replaces the owner's hash for filters without an owner. */
const ANY_OWNER = 0;

/**
 * Index of account filters by their equality conditions: owner, bytes of the data, data size, lamports.
 *
 *     #byOwner  shapes of the filters by required owner; #anyOwner: of filters without an owner
 *     #chains   filters by the hash of owner and key
 *
 * An account has one key per shape of its owner and is compared only with the filters of these keys. The cost
 * grows with the number of shapes, which follow from program layouts, not with the number of filters. Shapes
 * beyond the account's data are skipped.
 */
export class EqualityIndex {
  readonly #shapes = new Map<string, SharedShape>();
  readonly #byOwner = new AddressTable<ShapeList>();
  readonly #anyOwner = new ShapeList();
  readonly #chains = new Map<number, ChainHead<AccountRule>>();

  /** Number of stored owners, shapes and chains; 0 once all filters are removed. */
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

  /**
   * Deletes a removed watcher.
   * @param sweepId - of the sweep, which visits each chain once.
   */
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

  #matchAny(list: ShapeList, ofOwner: number, account: RawAccount, matches: Matches): void {
    const { length } = account.data;
    for (const { shape } of list.shapes) {
      if (shape.end > length) break;
      let entry: ChainEntry<AccountRule> | null = this.#chains.get(ofOwner + shape.hashOf(account)) ?? null;
      for (; entry !== null; entry = entry.next) {
        const { watcher } = entry;
        if (!matches.isNew(watcher)) continue;
        const { rule } = watcher;
        if (watcher.ownerShapes === list ? rule.passesOfOwner(account) : rule.passes(account))
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
    const existing = this.#shapes.get(text);
    if (existing !== undefined) return existing;
    const shared = { shape: new KeyShape(equalities), uses: 0 };
    this.#shapes.set(text, shared);
    return shared;
  }

  #listOf(owner: Uint8Array): ShapeList {
    const existing = this.#byOwner.get(owner, 0);
    if (existing !== undefined) return existing;
    const list = new ShapeList();
    this.#byOwner.set(owner, 0, list);
    return list;
  }
}

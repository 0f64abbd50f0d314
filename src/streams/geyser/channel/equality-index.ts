import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountEqualities } from '../filters/account-equalities.ts';
import type { AccountRule } from '../filters/account-rule.ts';
import { hashAddress } from '../filters/address-hash.ts';
import { AddressTable } from '../filters/address-table.ts';
import { KeyShape, shapeText } from './key-shape.ts';
import type { Matches } from './matches.ts';
import { type FirstPost, firstPost, join, swept } from './post-chain.ts';
import { ShapeList, type SharedShape } from './shape-list.ts';
import type { Post, Watcher } from './watcher.ts';

/** A filter that asks something of the data or the balance to be equal. */
type EqualWatcher = Watcher<AccountRule> & { rule: { equalities: AccountEqualities } };

export const isEqualWatcher = (watcher: Watcher<AccountRule>): watcher is EqualWatcher =>
  watcher.rule.equalities !== null;

/** In place of the hash of an owner, where a filter asks for none. */
const ANY_OWNER = 0;

/**
 * Filters of accounts by all that must be equal: the owner, bytes of the data, its size, the lamports.
 *
 *     #byOwner  from each owner to the shapes of the filters that ask for it, and #anyOwner to those of the others
 *     #chains   from the hash of an owner and of a key to the filters that ask for both
 *
 * An account has one key for each shape that its owner leads to, and looks at no filter but those of its keys. So it
 * costs what there are shapes, which programs set by their layouts, and not what there are filters; and of shapes
 * only those count that lie within its data.
 */
export class EqualityIndex {
  readonly #shapes = new Map<string, SharedShape>();
  readonly #byOwner = new AddressTable<ShapeList>();
  readonly #anyOwner = new ShapeList();
  readonly #chains = new Map<number, FirstPost<AccountRule>>();

  /** Owners, shapes and chains that it keeps: nothing once its filters are gone. */
  get size(): number {
    return this.#byOwner.size + this.#shapes.size + this.#chains.size;
  }

  add(watcher: EqualWatcher): void {
    const { owners, equalities } = watcher.rule;
    watcher.isOwnPost = owners === null || owners.addresses.length === 1;
    const shared = this.#sharedShape(equalities);
    const asked = shared.shape.hashOfAsked(equalities);
    if (owners === null) this.#hang(watcher, this.#anyOwner, shared, ANY_OWNER + asked);
    else
      for (const owner of owners.addresses)
        this.#hang(watcher, this.#listOf(owner), shared, hashAddress(owner, 0) + asked);
  }

  /**
   * Removes a watcher that is gone.
   * @param run - the number of the sweep, which looks at each chain only once.
   */
  sweep({ rule: { owners, equalities } }: EqualWatcher, run: number): void {
    const shared = this.#sharedShape(equalities);
    const asked = shared.shape.hashOfAsked(equalities);
    if (owners === null) this.#unhang(this.#anyOwner, shared, ANY_OWNER + asked, run);
    else
      for (const owner of owners.addresses) {
        const list = this.#listOf(owner);
        this.#unhang(list, shared, hashAddress(owner, 0) + asked, run);
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
      let post: Post<AccountRule> | null = this.#chains.get(ofOwner + shape.hashOf(account)) ?? null;
      for (; post !== null; post = post.next) {
        const { watcher } = post;
        if (!matches.isNew(watcher)) continue;
        const { rule } = watcher;
        if (watcher.place === list ? rule.passesOfOwner(account) : rule.passes(account)) matches.add(watcher);
      }
    }
  }

  #hang(watcher: EqualWatcher, list: ShapeList, shared: SharedShape, key: number): void {
    list.use(shared);
    if (watcher.isOwnPost) watcher.place = list;
    const first = this.#chains.get(key);
    if (first === undefined) this.#chains.set(key, firstPost(watcher));
    else join(first, watcher);
  }

  #unhang(list: ShapeList, shared: SharedShape, key: number, run: number): void {
    list.release(shared);
    const first = this.#chains.get(key);
    if (first === undefined) return;
    const left = swept(first, run);
    if (left === null) this.#chains.delete(key);
    else if (left !== first) this.#chains.set(key, left);
  }

  #sharedShape(equalities: AccountEqualities): SharedShape {
    const text = shapeText(equalities);
    const known = this.#shapes.get(text);
    if (known !== undefined) return known;
    const shared = { shape: new KeyShape(equalities), uses: 0 };
    this.#shapes.set(text, shared);
    return shared;
  }

  #listOf(owner: Uint8Array): ShapeList {
    const known = this.#byOwner.get(owner, 0);
    if (known !== undefined) return known;
    const list = new ShapeList();
    this.#byOwner.set(owner, 0, list);
    return list;
  }
}

import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountRule } from '../filters/account-rule.ts';
import { EqualityIndex, isEqualWatcher } from './equality-index.ts';
import type { Matches, Watcher } from './filter-group.ts';
import { WatchTable } from './watch-table.ts';

type AccountWatcher = Watcher<AccountRule>;

/**
 * Index of account filters. Each filter is in one place: by address, by its equality conditions, by owner, or
 * in the list of filters that are checked with every account.
 */
export class AccountIndex {
  readonly #byAddress = new WatchTable<AccountRule>();
  readonly #byEquality = new EqualityIndex();
  readonly #byOwner = new WatchTable<AccountRule>();
  #others: AccountWatcher[] = [];
  #sweeps = 0;

  add(watcher: AccountWatcher): void {
    const { rule } = watcher;
    if (isByAddress(rule)) {
      this.#addByKeys(this.#byAddress, watcher, rule.addresses?.addresses);
      watcher.isCertain = rule.isOnlyAddresses;
    } else if (isEqualWatcher(watcher)) this.#byEquality.add(watcher);
    else if (rule.owners !== null) this.#addByKeys(this.#byOwner, watcher, rule.owners.addresses);
    else this.#others.push(watcher);
  }

  remove(watchers: readonly AccountWatcher[]): void {
    const sweepId = ++this.#sweeps;
    for (const watcher of watchers) watcher.isRemoved = true;
    let others = 0;
    for (const watcher of watchers) {
      if (isByAddress(watcher.rule)) this.#byAddress.sweep(watcher.keys, sweepId);
      else if (isEqualWatcher(watcher)) this.#byEquality.sweep(watcher, sweepId);
      else if (watcher.rule.owners !== null) this.#byOwner.sweep(watcher.keys, sweepId);
      else others += 1;
    }
    if (others > 0) this.#others = this.#others.filter(({ isRemoved }) => !isRemoved);
  }

  match(account: RawAccount, matches: Matches): void {
    for (let entry = this.#byAddress.first(account.address, 0); entry !== null; entry = entry.next) {
      const { watcher } = entry;
      if (!matches.isNew(watcher)) continue;
      if (watcher.isCertain || watcher.rule.passesRest(account)) matches.add(watcher);
    }
    this.#byEquality.match(account, matches);
    for (let entry = this.#byOwner.first(account.owner, 0); entry !== null; entry = entry.next) {
      const { watcher } = entry;
      if (matches.isNew(watcher) && watcher.rule.passes(account)) matches.add(watcher);
    }
    for (const watcher of this.#others) {
      if (matches.isNew(watcher) && watcher.rule.passes(account)) matches.add(watcher);
    }
  }

  #addByKeys(
    table: WatchTable<AccountRule>,
    watcher: AccountWatcher,
    keys: readonly Uint8Array[] = [],
  ): void {
    watcher.keys = keys;
    watcher.isOwnEntry = keys.length === 1;
    table.add(watcher);
  }
}

/** Whether listed addresses suffice as the index; not with a cuckoo filter beside them. */
const isByAddress = ({ addresses, cuckoo }: AccountRule): boolean => addresses !== null && cuckoo === null;

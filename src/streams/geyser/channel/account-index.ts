import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountRule } from '../filters/account-rule.ts';
import type { Matches } from './matches.ts';
import { WatchTable } from './watch-table.ts';
import type { Watcher } from './watcher.ts';

type AccountWatcher = Watcher<AccountRule>;

/**
 * Filters of accounts by what an account must have for them to pass. Each is in one place: by its addresses, or by its
 * owners, or among those that have neither and look at every account.
 */
export class AccountIndex {
  readonly #byAddress = new WatchTable<AccountRule>();
  readonly #byOwner = new WatchTable<AccountRule>();
  #others: AccountWatcher[] = [];
  #sweeps = 0;

  add(watcher: AccountWatcher): void {
    const { rule } = watcher;
    const table = this.#tableOf(rule);
    if (table === null) this.#others.push(watcher);
    else {
      watcher.keys = (table === this.#byAddress ? rule.addresses : rule.owners)?.addresses ?? [];
      watcher.isOwnPost = watcher.keys.length === 1;
      watcher.isCertain = table === this.#byAddress && rule.isOnlyAddresses;
      table.add(watcher);
    }
  }

  remove(watchers: readonly AccountWatcher[]): void {
    const run = ++this.#sweeps;
    for (const watcher of watchers) watcher.isGone = true;
    for (const watcher of watchers) this.#tableOf(watcher.rule)?.sweep(watcher.keys, run);
    this.#others = this.#others.filter(({ isGone }) => !isGone);
  }

  match(account: RawAccount, matches: Matches): void {
    for (let post = this.#byAddress.first(account.address, 0); post !== null; post = post.next) {
      const { watcher } = post;
      if (!matches.isNew(watcher)) continue;
      if (watcher.isCertain || watcher.rule.passesRest(account)) matches.add(watcher);
    }
    for (let post = this.#byOwner.first(account.owner, 0); post !== null; post = post.next) {
      const { watcher } = post;
      if (matches.isNew(watcher) && watcher.rule.passes(account)) matches.add(watcher);
    }
    for (const watcher of this.#others) {
      if (matches.isNew(watcher) && watcher.rule.passes(account)) matches.add(watcher);
    }
  }

  /** With a cuckoo filter beside them, addresses are not all that is named. */
  #tableOf({ addresses, cuckoo, owners }: AccountRule): WatchTable<AccountRule> | null {
    if (addresses !== null && cuckoo === null) return this.#byAddress;
    return owners === null ? null : this.#byOwner;
  }
}

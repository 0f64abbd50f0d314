import type { RawAccount, RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import { TokenOwners } from '../filters/token-owners.ts';
import { AccountIndex } from './account-index.ts';
import type { Matches } from './matches.ts';
import type { MemberFilters } from './member-filters.ts';
import { TransactionIndex } from './transaction-index.ts';

/** What all members of a channel want, by what happens: an event leads to those whom it concerns. */
export class FilterIndex {
  readonly #owners = new TokenOwners();
  readonly #accounts = new AccountIndex();
  readonly #transactions = new TransactionIndex(this.#owners);
  readonly #statuses = new TransactionIndex(this.#owners);
  /** Who wants some slots; and so on. */
  readonly slots = new Set<MemberFilters>();
  readonly blocksMeta = new Set<MemberFilters>();
  readonly entry = new Set<MemberFilters>();
  readonly blocks = new Set<MemberFilters>();

  add(memberFilters: MemberFilters): void {
    for (const watcher of memberFilters.accounts) this.#accounts.add(watcher);
    for (const watcher of memberFilters.transactions) this.#transactions.add(watcher);
    for (const watcher of memberFilters.statuses) this.#statuses.add(watcher);
    if (memberFilters.slots !== null) this.slots.add(memberFilters);
    if (memberFilters.blocksMeta !== null) this.blocksMeta.add(memberFilters);
    if (memberFilters.entry !== null) this.entry.add(memberFilters);
    if (memberFilters.blocks.length > 0) this.blocks.add(memberFilters);
  }

  remove(memberFilters: MemberFilters): void {
    memberFilters.listener.isRemoved = true;
    this.#accounts.remove(memberFilters.accounts);
    this.#transactions.remove(memberFilters.transactions);
    this.#statuses.remove(memberFilters.statuses);
    for (const set of [this.slots, this.blocksMeta, this.entry, this.blocks]) set.delete(memberFilters);
  }

  matchAccount(account: RawAccount, matches: Matches): void {
    this.#accounts.match(account, matches);
  }

  matchTransaction(transaction: RawTransaction, matches: Matches): void {
    this.#transactions.match(transaction, matches);
  }

  /** Of those who want to hear only whether a transaction succeeded. */
  matchStatus(transaction: RawTransaction, matches: Matches): void {
    this.#statuses.match(transaction, matches);
  }
}

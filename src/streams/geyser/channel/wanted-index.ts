import type { RawAccount, RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import { TokenOwners } from '../filters/token-owners.ts';
import { AccountIndex } from './account-index.ts';
import type { Matches } from './matches.ts';
import { TransactionIndex } from './transaction-index.ts';
import type { Wanted } from './wanted.ts';

/** What all members of a channel want, by what happens: an event leads to those whom it concerns. */
export class WantedIndex {
  readonly #owners = new TokenOwners();
  readonly #accounts = new AccountIndex();
  readonly #transactions = new TransactionIndex(this.#owners);
  readonly #statuses = new TransactionIndex(this.#owners);
  /** Who wants some slots; and so on. */
  readonly slots = new Set<Wanted>();
  readonly blocksMeta = new Set<Wanted>();
  readonly entry = new Set<Wanted>();
  readonly blocks = new Set<Wanted>();

  add(wanted: Wanted): void {
    for (const watcher of wanted.accounts) this.#accounts.add(watcher);
    for (const watcher of wanted.transactions) this.#transactions.add(watcher);
    for (const watcher of wanted.statuses) this.#statuses.add(watcher);
    if (wanted.slots !== null) this.slots.add(wanted);
    if (wanted.blocksMeta !== null) this.blocksMeta.add(wanted);
    if (wanted.entry !== null) this.entry.add(wanted);
    if (wanted.blocks.length > 0) this.blocks.add(wanted);
  }

  remove(wanted: Wanted): void {
    wanted.listener.isGone = true;
    this.#accounts.remove(wanted.accounts);
    this.#transactions.remove(wanted.transactions);
    this.#statuses.remove(wanted.statuses);
    for (const set of [this.slots, this.blocksMeta, this.entry, this.blocks]) set.delete(wanted);
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

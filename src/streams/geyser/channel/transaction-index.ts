import type { RawKeys, RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import type { TokenOwners } from '../filters/token-owners.ts';
import type { TransactionRule } from '../filters/transaction-rule.ts';
import type { ChainEntry, Matches, Watcher } from './filter-group.ts';
import { WatchTable } from './watch-table.ts';

type TransactionWatcher = Watcher<TransactionRule>;

const listIndex = (isVote: boolean, hasFailed: boolean): number => (isVote ? 1 : 0) + (hasFailed ? 2 : 0);

class UnkeyedWatchers {
  /** Indexed by `listIndex`. A filter without conditions on votes and failures is in all lists. */
  #lists: TransactionWatcher[][] = [[], [], [], []];

  add(watcher: TransactionWatcher): void {
    for (const isVote of [false, true]) {
      for (const hasFailed of [false, true]) {
        if (watcher.rule.passesStatus(isVote, hasFailed))
          this.#lists[listIndex(isVote, hasFailed)]?.push(watcher);
      }
    }
  }

  sweep(): void {
    this.#lists = this.#lists.map((list) => list.filter(({ isRemoved }) => !isRemoved));
  }

  of({ isVote, err }: RawTransaction): readonly TransactionWatcher[] {
    return this.#lists[listIndex(isVote, err !== null)] as TransactionWatcher[];
  }
}

type Table = WatchTable<TransactionRule>;

/**
 * Indexes filters by signature, by a required key or by included keys. All other filters are checked against every
 * transaction whose status they accept. Filters that count token account owners as keys are also indexed by owner.
 */
export class TransactionIndex {
  readonly #owners: TokenOwners;
  /** Keyed by the first half of the signature. */
  readonly #bySignature: Table = new WatchTable();
  readonly #byKey: Table = new WatchTable();
  readonly #byOwner = { all: new WatchTable() as Table, balanceChanged: new WatchTable() as Table };
  readonly #others = new UnkeyedWatchers();
  #sweeps = 0;

  constructor(owners: TokenOwners) {
    this.#owners = owners;
  }

  add(watcher: TransactionWatcher): void {
    const tables = this.#tablesOf(watcher.rule);
    if (tables.length === 0) this.#others.add(watcher);
    watcher.keys = this.#keysOf(watcher.rule);
    watcher.isOwnEntry = watcher.keys.length === 1 && tables.length === 1;
    for (const table of tables) table.add(watcher);
  }

  remove(watchers: readonly TransactionWatcher[]): void {
    const sweepId = ++this.#sweeps;
    for (const watcher of watchers) watcher.isRemoved = true;
    let others = 0;
    for (const { rule, keys } of watchers) {
      const tables = this.#tablesOf(rule);
      if (tables.length === 0) others += 1;
      for (const table of tables) table.sweep(keys, sweepId);
    }
    if (others > 0) this.#others.sweep();
  }

  match(transaction: RawTransaction, matches: Matches): void {
    this.#matchChain(this.#bySignature.first(transaction.signature, 0), transaction, matches);
    this.#matchByKeys(this.#byKey, transaction.keys, transaction, matches);
    this.#matchByOwners('all', transaction, matches);
    this.#matchByOwners('balanceChanged', transaction, matches);
    for (const watcher of this.#others.of(transaction)) this.#matchWatcher(watcher, transaction, matches);
  }

  #matchByOwners(which: 'all' | 'balanceChanged', transaction: RawTransaction, matches: Matches): void {
    const table = this.#byOwner[which];
    if (table.isEmpty) return;
    this.#matchByKeys(table, this.#owners.of(transaction, which), transaction, matches);
  }

  #matchByKeys(
    table: Table,
    { bytes, offsets }: RawKeys,
    transaction: RawTransaction,
    matches: Matches,
  ): void {
    if (table.isEmpty) return;
    for (const offset of offsets) this.#matchChain(table.first(bytes, offset), transaction, matches);
  }

  #matchChain(
    first: ChainEntry<TransactionRule> | null,
    transaction: RawTransaction,
    matches: Matches,
  ): void {
    for (let entry = first; entry !== null; entry = entry.next)
      this.#matchWatcher(entry.watcher, transaction, matches);
  }

  #matchWatcher(watcher: TransactionWatcher, transaction: RawTransaction, matches: Matches): void {
    if (!matches.markChecked(watcher)) return;
    const { rule } = watcher;
    if (rule.passes(transaction, this.#owners, isByInclude(rule))) matches.add(watcher);
  }

  #tablesOf(rule: TransactionRule): readonly Table[] {
    if (rule.signature !== null) return [this.#bySignature];
    if (rule.required.length === 0 && !isByInclude(rule)) return [];
    return rule.tokenAccounts === null ? [this.#byKey] : [this.#byKey, this.#byOwner[rule.tokenAccounts]];
  }

  #keysOf({ signature, required, include }: TransactionRule): readonly Uint8Array[] {
    if (signature !== null) return [signature];
    return required.length > 0 ? [this.#leastWatched(required)] : (include?.addresses ?? []);
  }

  /** Picks the required key with the fewest watchers: many filters name a program first, then a rarer key. */
  #leastWatched(keys: readonly Uint8Array[]): Uint8Array {
    let [least, fewest] = [keys[0] as Uint8Array, Number.POSITIVE_INFINITY];
    for (const key of keys) {
      const watchers = this.#byKey.count(key);
      if (watchers < fewest) [least, fewest] = [key, watchers];
    }
    return least;
  }
}

/** Whether the included keys suffice as an index. They do not if the filter also has a cuckoo filter. */
const isByInclude = ({ signature, required, include, cuckoo }: TransactionRule): boolean =>
  signature === null && required.length === 0 && include !== null && cuckoo === null;

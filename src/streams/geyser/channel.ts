import { slicedAccountTail } from '../../protocol/geyser/encode/raw-account.ts';
import { transactionStatusTail } from '../../protocol/geyser/encode/raw-transaction.ts';
import type {
  RawAccount,
  RawBlock,
  RawBlockMeta,
  RawEntry,
  RawUpdate,
} from '../../protocol/geyser/raw-update.ts';
import { type BlockReader, BlockScheduler } from './channel/block-scheduler.ts';
import { EqualityIndex, isEqualWatcher } from './channel/equality-index.ts';
import { type Listener, Matches, type Watcher } from './channel/filter-group.ts';
import { MemberFilters } from './channel/member-filters.ts';
import { TransactionIndex } from './channel/transaction-index.ts';
import { WatchTable } from './channel/watch-table.ts';
import type { AccountRule } from './filters/account-rule.ts';
import type { Filters } from './filters/compile.ts';
import { TokenOwners } from './filters/token-owners.ts';
import type { GeyserSink } from './geyser-sink.ts';

type AccountWatcher = Watcher<AccountRule>;

/** Indexes filters by address, equality conditions or owner. All other filters are checked against every account. */
class AccountIndex {
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
      if (!matches.markChecked(watcher)) continue;
      if (watcher.isCertain || watcher.rule.passesRest(account)) matches.add(watcher);
    }
    this.#byEquality.match(account, matches);
    for (let entry = this.#byOwner.first(account.owner, 0); entry !== null; entry = entry.next) {
      const { watcher } = entry;
      if (matches.markChecked(watcher) && watcher.rule.passes(account)) matches.add(watcher);
    }
    for (const watcher of this.#others) {
      if (matches.markChecked(watcher) && watcher.rule.passes(account)) matches.add(watcher);
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

/** Whether the listed addresses suffice as an index. They do not if the filter also has a cuckoo filter. */
const isByAddress = ({ addresses, cuckoo }: AccountRule): boolean => addresses !== null && cuckoo === null;

/** Filters of all members, by kind of update. */
class FilterIndex {
  readonly #owners = new TokenOwners();
  readonly accounts = new AccountIndex();
  readonly transactions = new TransactionIndex(this.#owners);
  /** Filters that request only the status of a transaction. */
  readonly statuses = new TransactionIndex(this.#owners);
  /** Each of these sets holds the members that have filters of its kind. */
  readonly slots = new Set<MemberFilters>();
  readonly blocksMeta = new Set<MemberFilters>();
  readonly entry = new Set<MemberFilters>();
  readonly blocks = new Set<MemberFilters>();

  add(memberFilters: MemberFilters): void {
    for (const watcher of memberFilters.accounts) this.accounts.add(watcher);
    for (const watcher of memberFilters.transactions) this.transactions.add(watcher);
    for (const watcher of memberFilters.statuses) this.statuses.add(watcher);
    if (memberFilters.slots !== null) this.slots.add(memberFilters);
    if (memberFilters.blocksMeta !== null) this.blocksMeta.add(memberFilters);
    if (memberFilters.entry !== null) this.entry.add(memberFilters);
    if (memberFilters.blocks.length > 0) this.blocks.add(memberFilters);
  }

  remove(memberFilters: MemberFilters): void {
    memberFilters.listener.isRemoved = true;
    this.accounts.remove(memberFilters.accounts);
    this.transactions.remove(memberFilters.transactions);
    this.statuses.remove(memberFilters.statuses);
    for (const set of [this.slots, this.blocksMeta, this.entry, this.blocks]) set.delete(memberFilters);
  }
}

export interface Member {
  replace(filters: Filters): void;
  /** Afterwards, only pending blocks and the messages queued behind them are still sent. Idempotent. */
  close(): void;
}

/**
 * Sends updates to the streams of one commitment. The cost of an update depends on its matches, not on the number of
 * filters. Parts that only some streams need are encoded on first use and shared. Blocks may be sent later, which also
 * delays the messages that follow them on the same stream.
 */
export class Channel {
  readonly #index = new FilterIndex();
  readonly #matches = new Matches();
  /** Tails of the account being emitted, keyed by the requested slices. */
  readonly #slicedTails = new Map<string, Uint8Array>();
  readonly #blocks: BlockScheduler;
  size = 0;

  /** `blocks` must be shared by all channels that may emit to the same stream. */
  constructor(blocks = new BlockScheduler()) {
    this.#blocks = blocks;
  }

  /** Adds a member without filters. */
  add(sink: GeyserSink): Member {
    let memberFilters: MemberFilters | null = null;
    let isOpen = true;
    const replace = (filters: Filters | null): void => {
      if (memberFilters !== null) this.#index.remove(memberFilters);
      memberFilters = filters === null ? null : new MemberFilters(this.#sinkFor(sink, filters), filters);
      if (memberFilters !== null) this.#index.add(memberFilters);
    };
    this.size += 1;
    return {
      replace: (filters) => {
        if (isOpen) replace(filters);
      },
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        replace(null);
        this.size -= 1;
      },
    };
  }

  emit(update: RawUpdate | RawBlock): void {
    switch (update.kind) {
      case 'account':
        this.#emitAccount(update);
        break;
      case 'transaction':
        this.#matches.start();
        this.#index.transactions.match(update, this.#matches);
        if (this.#matches.count > 0) this.#pushAll(update.tail);
        this.#matches.start();
        this.#index.statuses.match(update, this.#matches);
        if (this.#matches.count > 0) this.#pushAll(transactionStatusTail(update));
        break;
      case 'slot':
        for (const { listener, slots } of this.#index.slots) {
          const names = slots?.namesOf(update.status) ?? null;
          if (names !== null) listener.sink.push(names, update.tail);
        }
        break;
      case 'entry':
        this.#emitNamed(this.#index.entry, ({ entry }) => entry, update);
        break;
      case 'blockMeta':
        this.#emitNamed(this.#index.blocksMeta, ({ blocksMeta }) => blocksMeta, update);
        break;
      case 'block':
        this.#emitBlock(update);
        break;
    }
  }

  /** Streams without block filters or pending blocks need no ordering and are written to directly. */
  #sinkFor(sink: GeyserSink, { blocks }: Filters): GeyserSink {
    return blocks.length > 0 || this.#blocks.hasPendingBlock(sink) ? this.#blocks.ordered(sink) : sink;
  }

  #emitAccount(account: RawAccount): void {
    const matches = this.#matches;
    matches.start();
    this.#index.accounts.match(account, matches);
    for (let group = matches.take(); group !== null; group = matches.take()) {
      const { listener } = group;
      const names = group.takeNames();
      if (!listener.isRemoved) listener.sink.push(names, this.#accountTail(account, listener));
    }
    if (this.#slicedTails.size > 0) this.#slicedTails.clear();
  }

  #accountTail(account: RawAccount, { slices, slicesKey }: Listener): Uint8Array {
    if (slices === null) return account.tail;
    const existing = this.#slicedTails.get(slicesKey);
    if (existing !== undefined) return existing;
    const tail = slicedAccountTail(account, slices);
    this.#slicedTails.set(slicesKey, tail);
    return tail;
  }

  #pushAll(tail: Uint8Array): void {
    const matches = this.#matches;
    for (let group = matches.take(); group !== null; group = matches.take()) {
      const names = group.takeNames();
      if (!group.listener.isRemoved) group.listener.sink.push(names, tail);
    }
  }

  #emitNamed(
    all: ReadonlySet<MemberFilters>,
    namesOf: (memberFilters: MemberFilters) => Uint8Array | null,
    update: RawEntry | RawBlockMeta,
  ): void {
    for (const memberFilters of all) {
      const names = namesOf(memberFilters);
      if (names !== null) memberFilters.listener.sink.push(names, update.tail);
    }
  }

  #emitBlock(block: RawBlock): void {
    const readers: BlockReader[] = [];
    for (const { listener, blocks } of this.#index.blocks) {
      readers.push({ sink: this.#blocks.ordered(listener.sink), selectors: blocks });
    }
    this.#blocks.emit(block, readers);
  }
}

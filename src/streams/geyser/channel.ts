import { slicedAccountTail } from '../../protocol/geyser/encode/raw-account.ts';
import { transactionStatusTail } from '../../protocol/geyser/encode/raw-transaction.ts';
import type {
  RawAccount,
  RawBlock,
  RawBlockMeta,
  RawEntry,
  RawSlot,
  RawTransaction,
  RawUpdate,
} from '../../protocol/geyser/raw-update.ts';
import { AccountIndex } from './channel/account-index.ts';
import { type BlockReader, BlockScheduler } from './channel/block-scheduler.ts';
import { type Listener, Matches } from './channel/filter-group.ts';
import { MemberFilters } from './channel/member-filters.ts';
import { TransactionIndex } from './channel/transaction-index.ts';
import type { Filters } from './filters/compile.ts';
import { TokenOwners } from './filters/token-owners.ts';
import type { GeyserSink } from './geyser-sink.ts';

/** What all members of a channel want, by what happens: an event leads to those whom it concerns. */
class FilterIndex {
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

/** A stream among those that one channel tells. */
export interface Member {
  /** What it wants from now on, in place of what it wanted. */
  replace(filters: Filters): void;
  /** Ends it: it is told nothing more but what waits of blocks. Harmless when it is over. */
  close(): void;
}

/**
 * Streams that are told the same updates, each what passes its filters. Filters are found by an index, so that an
 * update costs what it has matches, however many filters there are. The rest of a message is read from an update when
 * the first stream is told, and what only some of them are told (parts of an account's data, the status of a
 * transaction, a block) is encoded for the first and shared by the others. Blocks may be told later, and then what
 * follows on the streams that want them is too.
 */
export class Channel {
  readonly #index = new FilterIndex();
  readonly #matches = new Matches();
  /** Tails of the account that is being told, by what parts of its data are wanted. */
  readonly #slicedTails = new Map<string, Uint8Array>();
  readonly #blocks: BlockScheduler;
  #size = 0;

  /** @param blocks - shared by all channels that may tell the same stream. */
  constructor(blocks = new BlockScheduler()) {
    this.#blocks = blocks;
  }

  /** Its members. */
  get size(): number {
    return this.#size;
  }

  /** @returns a member that wants nothing yet. */
  add(sink: GeyserSink): Member {
    let memberFilters: MemberFilters | null = null;
    let isOpen = true;
    const replace = (filters: Filters | null): void => {
      if (memberFilters !== null) this.#index.remove(memberFilters);
      memberFilters = filters === null ? null : new MemberFilters(this.#sinkFor(sink, filters), filters);
      if (memberFilters !== null) this.#index.add(memberFilters);
    };
    this.#size += 1;
    return {
      replace: (filters) => {
        if (isOpen) replace(filters);
      },
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        replace(null);
        this.#size -= 1;
      },
    };
  }

  emit(update: RawUpdate | RawBlock): void {
    switch (update.kind) {
      case 'account':
        this.#emitAccount(update);
        break;
      case 'transaction':
        this.#emitTransaction(update);
        this.#emitStatus(update);
        break;
      case 'slot':
        this.#emitSlot(update);
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

  /** Streams that want no blocks, and wait for none, are told without a detour. */
  #sinkFor(sink: GeyserSink, { blocks }: Filters): GeyserSink {
    return blocks.length > 0 || this.#blocks.hasPendingBlock(sink) ? this.#blocks.ordered(sink) : sink;
  }

  #emitAccount(account: RawAccount): void {
    const matches = this.#matches;
    matches.start();
    this.#index.matchAccount(account, matches);
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

  #emitTransaction(transaction: RawTransaction): void {
    this.#matches.start();
    this.#index.matchTransaction(transaction, this.#matches);
    if (this.#matches.count > 0) this.#pushAll(transaction.tail);
  }

  #emitStatus(transaction: RawTransaction): void {
    this.#matches.start();
    this.#index.matchStatus(transaction, this.#matches);
    if (this.#matches.count > 0) this.#pushAll(transactionStatusTail(transaction));
  }

  #pushAll(tail: Uint8Array): void {
    const matches = this.#matches;
    for (let group = matches.take(); group !== null; group = matches.take()) {
      const names = group.takeNames();
      if (!group.listener.isRemoved) group.listener.sink.push(names, tail);
    }
  }

  #emitSlot(slot: RawSlot): void {
    for (const { listener, slots } of this.#index.slots) {
      const names = slots?.namesOf(slot.status) ?? null;
      if (names !== null) listener.sink.push(names, slot.tail);
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
      readers.push({ sink: this.#blocks.ordered(listener.sink), choices: blocks });
    }
    this.#blocks.emit(block, readers);
  }
}

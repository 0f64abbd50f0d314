import { slicedAccountTail } from '../../protocol/geyser/encode/sliced-account.ts';
import { transactionStatusTail } from '../../protocol/geyser/encode/transaction-status.ts';
import type {
  RawAccount,
  RawBlock,
  RawBlockMeta,
  RawEntry,
  RawSlot,
  RawTransaction,
  RawUpdate,
} from '../../protocol/geyser/raw-update.ts';
import { type BlockReader, BlockTurns } from './channel/block-turns.ts';
import type { Listener } from './channel/listener.ts';
import { Matches } from './channel/matches.ts';
import { Wanted } from './channel/wanted.ts';
import { WantedIndex } from './channel/wanted-index.ts';
import type { Filters } from './filters/compile.ts';
import type { GeyserSink } from './geyser-sink.ts';

/** A stream among those that one channel tells. */
export interface Member {
  /** What it wants from now on, in place of what it wanted. */
  replace(filters: Filters): void;
  /** Ends it: it is told nothing more but what waits of blocks. Harmless when it is over. */
  leave(): void;
}

/**
 * Streams that are told the same updates, each what passes its filters. Filters are found by an index, so that an
 * update costs what it has matches, however many filters there are. The rest of a message is read from an update when
 * the first stream is told, and what only some of them are told (parts of an account's data, the status of a
 * transaction, a block) is encoded for the first and shared by the others. Blocks may be told later, and then what
 * follows on the streams that want them is too.
 */
export class Channel {
  readonly #index = new WantedIndex();
  readonly #matches = new Matches();
  /** Tails of the account that is being told, by what parts of its data are wanted. */
  readonly #sliced = new Map<string, Uint8Array>();
  readonly #blocks: BlockTurns;
  #size = 0;

  /** @param blocks - shared by all channels that may tell the same stream. */
  constructor(blocks = new BlockTurns()) {
    this.#blocks = blocks;
  }

  /** Its members. */
  get size(): number {
    return this.#size;
  }

  /** @returns a member that wants nothing yet. */
  add(sink: GeyserSink): Member {
    let wanted: Wanted | null = null;
    let isHere = true;
    const replace = (filters: Filters | null): void => {
      if (wanted !== null) this.#index.remove(wanted);
      wanted = filters === null ? null : new Wanted(this.#wayTo(sink, filters), filters);
      if (wanted !== null) this.#index.add(wanted);
    };
    this.#size += 1;
    return {
      replace: (filters) => {
        if (isHere) replace(filters);
      },
      leave: () => {
        if (!isHere) return;
        isHere = false;
        replace(null);
        this.#size -= 1;
      },
    };
  }

  tell(update: RawUpdate | RawBlock): void {
    switch (update.kind) {
      case 'account':
        this.#tellAccount(update);
        break;
      case 'transaction':
        this.#tellTransaction(update);
        this.#tellStatus(update);
        break;
      case 'slot':
        this.#tellSlot(update);
        break;
      case 'entry':
        this.#tellNamed(this.#index.entry, ({ entry }) => entry, update);
        break;
      case 'blockMeta':
        this.#tellNamed(this.#index.blocksMeta, ({ blocksMeta }) => blocksMeta, update);
        break;
      case 'block':
        this.#tellBlock(update);
        break;
    }
  }

  /** Streams that want no blocks, and wait for none, are told without a detour. */
  #wayTo(sink: GeyserSink, { blocks }: Filters): GeyserSink {
    return blocks.length > 0 || this.#blocks.isHolding(sink) ? this.#blocks.ordered(sink) : sink;
  }

  #tellAccount(account: RawAccount): void {
    const matches = this.#matches;
    matches.begin();
    this.#index.matchAccount(account, matches);
    for (let lane = matches.take(); lane !== null; lane = matches.take()) {
      const { listener } = lane;
      const names = lane.takeNames();
      if (!listener.isGone) listener.sink.push(names, this.#accountTail(account, listener));
    }
    if (this.#sliced.size > 0) this.#sliced.clear();
  }

  #accountTail(account: RawAccount, { slices, slicesKey }: Listener): Uint8Array {
    if (slices === null) return account.tail;
    const known = this.#sliced.get(slicesKey);
    if (known !== undefined) return known;
    const tail = slicedAccountTail(account, slices);
    this.#sliced.set(slicesKey, tail);
    return tail;
  }

  #tellTransaction(transaction: RawTransaction): void {
    this.#matches.begin();
    this.#index.matchTransaction(transaction, this.#matches);
    if (this.#matches.count > 0) this.#pushAll(transaction.tail);
  }

  #tellStatus(transaction: RawTransaction): void {
    this.#matches.begin();
    this.#index.matchStatus(transaction, this.#matches);
    if (this.#matches.count > 0) this.#pushAll(transactionStatusTail(transaction));
  }

  #pushAll(tail: Uint8Array): void {
    const matches = this.#matches;
    for (let lane = matches.take(); lane !== null; lane = matches.take()) {
      const names = lane.takeNames();
      if (!lane.listener.isGone) lane.listener.sink.push(names, tail);
    }
  }

  #tellSlot(slot: RawSlot): void {
    for (const { listener, slots } of this.#index.slots) {
      const names = slots?.namesOf(slot.status) ?? null;
      if (names !== null) listener.sink.push(names, slot.tail);
    }
  }

  #tellNamed(
    all: ReadonlySet<Wanted>,
    namesOf: (wanted: Wanted) => Uint8Array | null,
    update: RawEntry | RawBlockMeta,
  ): void {
    for (const wanted of all) {
      const names = namesOf(wanted);
      if (names !== null) wanted.listener.sink.push(names, update.tail);
    }
  }

  #tellBlock(block: RawBlock): void {
    const readers: BlockReader[] = [];
    for (const { listener, blocks } of this.#index.blocks) {
      readers.push({ sink: this.#blocks.ordered(listener.sink), choices: blocks });
    }
    this.#blocks.tell(block, readers);
  }
}

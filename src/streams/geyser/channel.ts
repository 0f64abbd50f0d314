import { encodeNames } from '../../protocol/geyser/encode/names.ts';
import type {
  RawAccount,
  RawBlock,
  RawSlot,
  RawTransaction,
  RawUpdate,
} from '../../protocol/geyser/raw-update.ts';
import { blockTail, slicedAccountTail, transactionStatusTail } from './channel/tails.ts';
import type { Filters } from './filters/compile.ts';
import { TokenOwners } from './filters/token-owners.ts';
import type { GeyserSink } from './geyser-sink.ts';

/** A stream among those that one channel tells. */
export interface Member {
  /** What it wants from now on, in place of what it wanted; null: nothing. */
  replace(filters: Filters | null): void;
  /** Tells it alone what the others had before. */
  tell(update: RawUpdate | RawBlock): void;
  /** Ends it: it is told nothing more. Harmless when it is over. */
  leave(): void;
}

/** Streams that are told the same updates, each what passes its filters. */
export class Channel {
  readonly #members = new Set<ChannelMember>();

  /** Its members. */
  get size(): number {
    return this.#members.size;
  }

  /** @returns a member that wants nothing yet. */
  add(sink: GeyserSink): Member {
    const member = new ChannelMember(sink, () => this.#members.delete(member));
    this.#members.add(member);
    return member;
  }

  tell(update: RawUpdate | RawBlock): void {
    for (const member of this.#members) member.tell(update);
  }
}

class ChannelMember implements Member {
  readonly #sink: GeyserSink;
  readonly #onLeave: () => void;
  readonly #owners = new TokenOwners();
  #filters: Filters | null = null;

  constructor(sink: GeyserSink, onLeave: () => void) {
    this.#sink = sink;
    this.#onLeave = onLeave;
  }

  replace(filters: Filters | null): void {
    this.#filters = filters;
  }

  leave(): void {
    this.#filters = null;
    this.#onLeave();
  }

  tell(update: RawUpdate | RawBlock): void {
    const filters = this.#filters;
    if (filters === null) return;
    switch (update.kind) {
      case 'account':
        this.#account(update, filters);
        break;
      case 'transaction':
        this.#transaction(update, filters);
        break;
      case 'slot':
        this.#slot(update, filters);
        break;
      case 'entry':
        this.#push(filters.entry, () => update.tail);
        break;
      case 'blockMeta':
        this.#push(filters.blocksMeta, () => update.tail);
        break;
      case 'block':
        this.#block(update, filters);
        break;
    }
  }

  #push(names: readonly string[], tail: () => Uint8Array): void {
    if (names.length > 0) this.#sink.push(encodeNames(names), tail());
  }

  #account(update: RawAccount, { accounts, slices }: Filters): void {
    const names = accounts.filter((test) => test.passes(update)).map(({ name }) => name);
    this.#push(names, () => (slices.length === 0 ? update.tail : slicedAccountTail(update, slices)));
  }

  #transaction(update: RawTransaction, { transactions, transactionsStatus }: Filters): void {
    const of = (tests: Filters['transactions']) =>
      tests.filter((test) => test.passes(update, this.#owners)).map(({ name }) => name);
    this.#push(of(transactions), () => update.tail);
    this.#push(of(transactionsStatus), () => transactionStatusTail(update));
  }

  #slot(update: RawSlot, { slots }: Filters): void {
    const names = slots.filter((test) => test.passes(update.status)).map(({ name }) => name);
    this.#push(names, () => update.tail);
  }

  #block(update: RawBlock, { blocks }: Filters): void {
    for (const choice of blocks) this.#push([choice.name], () => blockTail(update, choice.of(update)));
  }
}

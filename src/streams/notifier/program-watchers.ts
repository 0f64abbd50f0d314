import { bytesKey } from '../../base/text/bytes-key.ts';
import { type AccountFilter, matchesAccountFilter } from '../../protocol/rpc/account-filter.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { Account } from '../../solana/account/account.ts';
import type { Address } from '../../solana/address.ts';
import type { AccountEncoding } from '../../solana/encoding/encodings.ts';
import type { FeedListener } from '../feed.ts';
import { type AccountNotification, EMPTY_ACCOUNT } from './account-notification.ts';
import { WatchIndex } from './account-watchers.ts';

type Watcher = Readonly<{
  filters: readonly AccountFilter[];
  encoding: AccountEncoding;
  listener: FeedListener;
}>;

type Memcmp = Extract<AccountFilter, { kind: 'memcmp' }>;

const isMemcmp = (filter: AccountFilter): filter is Memcmp => filter.kind === 'memcmp';

/** Watchers whose first memcmp covers the same range, indexed by the compared bytes. */
class MemcmpRange {
  readonly byBytes = new WatchIndex<string, Watcher>();
  readonly #start: number;
  readonly #length: number;

  constructor({ offset, bytes }: Memcmp) {
    this.#start = Number(offset);
    this.#length = bytes.length;
  }

  of({ data }: Account): ReadonlySet<Watcher> | undefined {
    const end = this.#start + this.#length;
    return end > data.length ? undefined : this.byBytes.of(bytesKey(data.subarray(this.#start, end)));
  }
}

class ProgramGroup {
  readonly #others = new Set<Watcher>();
  readonly #ranges = new Map<string, MemcmpRange>();

  get isEmpty(): boolean {
    return this.#others.size === 0 && this.#ranges.size === 0;
  }

  add(watcher: Watcher): () => void {
    const memcmp = watcher.filters.find(isMemcmp);
    if (memcmp !== undefined) {
      const name = `${memcmp.offset}+${memcmp.bytes.length}`;
      const range = this.#ranges.get(name) ?? new MemcmpRange(memcmp);
      const bytes = bytesKey(memcmp.bytes);
      this.#ranges.set(name, range);
      range.byBytes.add(bytes, watcher);
      return () => {
        range.byBytes.delete(bytes, watcher);
        if (range.byBytes.isEmpty && this.#ranges.get(name) === range) this.#ranges.delete(name);
      };
    }
    this.#others.add(watcher);
    return () => this.#others.delete(watcher);
  }

  *candidates(account: Account): Iterable<Watcher> {
    yield* this.#others;
    for (const range of this.#ranges.values()) yield* range.of(account) ?? [];
  }
}

/**
 * Watchers of a program are not notified when one of its accounts gets another owner. A closed account belongs to the
 * System program.
 */
export class ProgramWatchers {
  readonly #byProgram = new Map<Address, ProgramGroup>();

  get isEmpty(): boolean {
    return this.#byProgram.size === 0;
  }

  add({ program, filters, encoding }: SubscriptionOf<'program'>, listener: FeedListener): () => void {
    const group = this.#byProgram.get(program) ?? new ProgramGroup();
    this.#byProgram.set(program, group);
    const end = group.add({ filters, encoding, listener });
    return () => {
      end();
      if (group.isEmpty && this.#byProgram.get(program) === group) this.#byProgram.delete(program);
    };
  }

  matches({ account }: AccountNotification): boolean {
    return this.#byProgram.has((account ?? EMPTY_ACCOUNT).owner);
  }

  notify(notification: AccountNotification): void {
    const account = notification.account ?? EMPTY_ACCOUNT;
    const group = this.#byProgram.get(account.owner);
    if (group === undefined) return;
    for (const { filters, encoding, listener } of group.candidates(account)) {
      if (!filters.every((filter) => matchesAccountFilter(filter, account))) continue;
      const result = notification.keyedResult(encoding);
      if (result !== null) listener.onNotification(result, false);
    }
  }
}

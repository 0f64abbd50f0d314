import { bytesKey } from '../../base/bytes-key.ts';
import type { Account } from '../../ledger/account/account.ts';
import type { Address } from '../../ledger/address.ts';
import type { AccountEncoding } from '../../ledger/encoding/ui-account.ts';
import type { AccountFilter } from '../../protocol/rpc/account-filter.ts';
import { passes } from '../../protocol/rpc/account-passes.ts';
import type { SubscriptionOf } from '../../protocol/subscriptions.ts';
import type { FeedListener } from '../feed.ts';
import type { ToldAccount } from './told-account.ts';
import { WatchIndex } from './watch-index.ts';

type Watcher = Readonly<{
  filters: readonly AccountFilter[];
  encoding: AccountEncoding;
  listener: FeedListener;
}>;

type Memcmp = Extract<AccountFilter, { kind: 'memcmp' }>;

const isMemcmp = (filter: AccountFilter): filter is Memcmp => filter.kind === 'memcmp';

/** Watchers of one program whose first memcmp compares the same stretch of the data: found by what stands there. */
class Stretch {
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

/** Who watches the accounts of one program. */
class OneProgram {
  /** Without a memcmp. */
  readonly #others = new Set<Watcher>();
  readonly #stretches = new Map<string, Stretch>();

  get isEmpty(): boolean {
    return this.#others.size === 0 && this.#stretches.size === 0;
  }

  add(watcher: Watcher): () => void {
    const memcmp = watcher.filters.find(isMemcmp);
    if (memcmp !== undefined) return this.#addTo(memcmp, watcher);
    this.#others.add(watcher);
    return () => this.#others.delete(watcher);
  }

  #addTo(memcmp: Memcmp, watcher: Watcher): () => void {
    const name = `${memcmp.offset}+${memcmp.bytes.length}`;
    const stretch = this.#stretches.get(name) ?? new Stretch(memcmp);
    const bytes = bytesKey(memcmp.bytes);
    this.#stretches.set(name, stretch);
    stretch.byBytes.add(bytes, watcher);
    return () => {
      stretch.byBytes.delete(bytes, watcher);
      if (stretch.byBytes.isEmpty && this.#stretches.get(name) === stretch) this.#stretches.delete(name);
    };
  }

  *candidates(account: Account): Iterable<Watcher> {
    yield* this.#others;
    for (const stretch of this.#stretches.values()) yield* stretch.of(account) ?? [];
  }
}

/** Who watches which program's accounts. One that left the program is not told. */
export class ProgramWatchers {
  readonly #byProgram = new Map<Address, OneProgram>();

  get isEmpty(): boolean {
    return this.#byProgram.size === 0;
  }

  add({ program, filters, encoding }: SubscriptionOf<'program'>, listener: FeedListener): () => void {
    const group = this.#byProgram.get(program) ?? new OneProgram();
    this.#byProgram.set(program, group);
    const end = group.add({ filters, encoding, listener });
    return () => {
      end();
      if (group.isEmpty && this.#byProgram.get(program) === group) this.#byProgram.delete(program);
    };
  }

  wants({ account }: ToldAccount): boolean {
    return account !== null && this.#byProgram.has(account.owner);
  }

  tell(told: ToldAccount): void {
    const { account } = told;
    if (account === null) return;
    const group = this.#byProgram.get(account.owner);
    if (group === undefined) return;
    for (const { filters, encoding, listener } of group.candidates(account)) {
      if (!filters.every((filter) => passes(filter, account))) continue;
      const result = told.keyedResult(encoding);
      if (result !== null) listener.notify(result, false);
    }
  }
}

import type { RawAccount, RawTransaction } from '../../../protocol/geyser/raw-update.ts';
import type {
  AccountsDataFilter,
  AccountsFilter,
  SubscribeRequest,
  TransactionsFilter,
} from '../../../protocol/geyser/subscribe-request.ts';
import { GrpcError } from '../../../protocol/grpc/status.ts';
import type { AccountFilter } from '../../../protocol/rpc/account-filter.ts';
import type {
  Subscription,
  SubscriptionKind,
  SubscriptionOf,
  TransactionFilter,
} from '../../../protocol/subscriptions.ts';
import type { Address } from '../../../solana/address.ts';
import { Channel, type Member } from '../../../streams/geyser/channel.ts';
import { compileFilters } from '../../../streams/geyser/filters/compile.ts';
import { pubkeysCount } from '../../../streams/geyser/filters/request-size.ts';
import type { GeyserSink } from '../../../streams/geyser/geyser-sink.ts';
import { type FiltersSize, named } from '../../geyser/merge-filters.ts';

export class RefCountedMap<Key, Value> {
  readonly #entries = new Map<Key, { readonly value: Value; count: number }>();

  get size(): number {
    return this.#entries.size;
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  keys(): Iterable<Key> {
    return this.#entries.keys();
  }

  *values(): Iterable<Value> {
    for (const { value } of this.#entries.values()) yield value;
  }

  /** @returns an idempotent release function. The last release of a key calls `onRemoved`. */
  add(key: Key, make: () => Value, onRemoved: (value: Value) => void = () => {}): () => void {
    const entry = this.#entries.get(key) ?? { value: make(), count: 0 };
    entry.count++;
    this.#entries.set(key, entry);
    let isActive = true;
    return () => {
      if (!isActive) return;
      isActive = false;
      entry.count--;
      if (entry.count > 0) return;
      this.#entries.delete(key);
      onRemoved(entry.value);
    };
  }
}

/** Excludes `slotsUpdates` (plugins report no frozen banks), `block` (too expensive) and `vote` (not reported). */
export const geyserKinds: ReadonlySet<SubscriptionKind> = new Set<SubscriptionKind>([
  'account',
  'logs',
  'program',
  'root',
  'signature',
  'slot',
  'transaction',
]);

/** A requested filter, also applied to received updates, because the source may emit more than was requested. */
type MatchedFilter<Filter> = Readonly<{ filter: Filter; member: Member }>;

const dataFilter = (filter: AccountFilter): AccountsDataFilter =>
  filter.kind === 'dataSize' ? { kind: 'dataSize', bytes: filter.size } : filter;

const keyOf = (filters: readonly AccountFilter[]): string =>
  filters
    .map((filter) => {
      if (filter.kind === 'dataSize') return `size ${filter.size}`;
      if (filter.kind === 'tokenAccountState') return filter.kind;
      return `memcmp ${filter.offset} ${Buffer.from(filter.bytes).toString('hex')}`;
    })
    .join(',');

class ProgramFilters {
  readonly #program: Address;
  readonly #filtersMax: number;
  readonly filters = new RefCountedMap<string, MatchedFilter<AccountsFilter>>();

  constructor(program: Address, filtersMax: number) {
    this.#program = program;
    this.#filtersMax = filtersMax;
  }

  /** Upper bound on the number of requested filters. Unlike that number, it never rises when a filter is removed. */
  get count(): number {
    return Math.min(this.filters.size, this.#filtersMax);
  }

  requested(): readonly AccountsFilter[] {
    const isWhole = this.filters.has('') || this.filters.size > this.#filtersMax;
    return isWhole ? [{ owner: [this.#program] }] : [...this.filters.values()].map(({ filter }) => filter);
  }
}

function transactionFilter(filter: TransactionFilter): TransactionsFilter {
  return {
    ...(filter.vote === null ? {} : { vote: filter.vote }),
    ...(filter.failed === null ? {} : { failed: filter.failed }),
    ...(filter.signature === null ? {} : { signature: filter.signature }),
    accountInclude: filter.include,
    accountExclude: filter.exclude,
    accountRequired: filter.required,
    ...(filter.tokenAccounts === 'none' ? {} : { tokenAccounts: filter.tokenAccounts }),
  };
}

type RequestedFiltersOptions = Readonly<{
  programFiltersMax: number;
  fits: (size: FiltersSize) => boolean;
}>;

/**
 * The Geyser filters of all WebSocket subscriptions. An account that matches a program's filters, but stops matching
 * later in the same slot, is emitted in its matching state.
 */
export class RequestedFilters {
  readonly #options: RequestedFiltersOptions;
  readonly #accounts = new RefCountedMap<Address, Member>();
  readonly #mentions = new RefCountedMap<Address, Member>();
  readonly #programs = new Map<Address, ProgramFilters>();
  readonly #transactions = new RefCountedMap<string, MatchedFilter<TransactionsFilter>>();
  readonly #channel = new Channel();
  readonly #sink: GeyserSink;
  #hasMatched = false;
  #programFilters = 0;
  #filteredAddresses = 0;

  constructor(options: RequestedFiltersOptions) {
    this.#options = options;
    const push = (): void => {
      this.#hasMatched = true;
    };
    this.#sink = { push, end: () => {}, lag: () => {} };
  }

  /** @returns an idempotent removal function; null if a limit is exceeded or Geyser does not support the filters. */
  add(subscription: Subscription): (() => void) | null {
    try {
      const end = this.#addFilter(subscription);
      if (this.#options.fits(this.#size)) return end;
      end();
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
    }
    return null;
  }

  request(): SubscribeRequest {
    const accounts = [...this.#programs.values()].flatMap((program) => program.requested());
    if (this.#accounts.size > 0) accounts.unshift({ account: [...this.#accounts.keys()] });
    const transactions = [...this.#transactions.values()].map(({ filter }) => filter);
    if (this.#mentions.size > 0) transactions.unshift({ accountInclude: [...this.#mentions.keys()] });
    return { accounts: named('a', accounts), transactions: named('t', transactions) };
  }

  matches(update: RawAccount | RawTransaction): boolean {
    this.#hasMatched = false;
    this.#channel.emit(update);
    return this.#hasMatched;
  }

  get #size(): FiltersSize {
    const merged = Math.min(1, this.#accounts.size) + Math.min(1, this.#mentions.size);
    return {
      filters: merged + this.#programFilters + this.#transactions.size,
      addresses: this.#accounts.size + this.#mentions.size + this.#filteredAddresses,
    };
  }

  #addFilter(subscription: Subscription): () => void {
    switch (subscription.kind) {
      case 'account':
        return this.#addAddress(this.#accounts, subscription.address, (account) => ({
          accounts: new Map([['a', { account }]]),
        }));
      case 'program':
        return this.#addProgram(subscription);
      case 'signature':
        return this.#addTransactions({ signature: subscription.signature });
      case 'transaction':
        return this.#addTransactions(transactionFilter(subscription.filter));
      case 'logs':
        return this.#addLogs(subscription);
      default:
        return () => {};
    }
  }

  #addLogs({ of }: SubscriptionOf<'logs'>): () => void {
    if (of === 'all') return this.#addTransactions({ vote: false });
    if (of === 'allWithVotes') return this.#addTransactions({});
    return this.#addAddress(this.#mentions, of.mentions, (accountInclude) => ({
      transactions: new Map([['t', { accountInclude }]]),
    }));
  }

  #addAddress(
    addresses: RefCountedMap<Address, Member>,
    address: Address,
    request: (addresses: readonly Address[]) => SubscribeRequest,
  ): () => void {
    return addresses.add(
      address,
      () => this.#newMember(request([address])),
      (member) => member.close(),
    );
  }

  #addTransactions(filter: TransactionsFilter): () => void {
    const request: SubscribeRequest = { transactions: new Map([['t', filter]]) };
    return this.#transactions.add(
      JSON.stringify(filter),
      () => {
        const member = this.#newMember(request);
        this.#filteredAddresses += pubkeysCount(request);
        return { filter, member };
      },
      ({ member }) => {
        member.close();
        this.#filteredAddresses -= pubkeysCount(request);
      },
    );
  }

  #addProgram({ program, filters }: SubscriptionOf<'program'>): () => void {
    const { programFiltersMax } = this.#options;
    const group = this.#programs.get(program) ?? new ProgramFilters(program, programFiltersMax);
    const filter = { owner: [program], filters: filters.map(dataFilter) };
    const make = () => ({ filter, member: this.#newMember({ accounts: new Map([['a', filter]]) }) });
    const remove = this.#recount(group, () =>
      group.filters.add(keyOf(filters), make, ({ member }) => member.close()),
    );
    this.#programs.set(program, group);
    return () => {
      this.#recount(group, remove);
      if (group.count === 0 && this.#programs.get(program) === group) this.#programs.delete(program);
    };
  }

  #recount<Result>(program: ProgramFilters, change: () => Result): Result {
    const before = program.count;
    const result = change();
    this.#programFilters += program.count - before;
    return result;
  }

  /** @throws GrpcError for filters that Geyser does not support. */
  #newMember(request: SubscribeRequest): Member {
    const filters = compileFilters(request);
    const member = this.#channel.add(this.#sink);
    member.replace(filters);
    return member;
  }
}

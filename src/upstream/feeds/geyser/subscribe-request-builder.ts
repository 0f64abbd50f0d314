import {
  type AccountsDataFilter,
  encodeSubscribeRequest,
  type SubscribeRequest,
  type TransactionsFilter,
} from '../../../protocol/geyser/subscribe-request.ts';
import type { AccountFilter } from '../../../protocol/rpc/account-filter.ts';
import type {
  Subscription,
  SubscriptionKind,
  SubscriptionOf,
  TransactionFilter,
} from '../../../protocol/subscriptions.ts';
import type { Address } from '../../../solana/address.ts';
import type { Slot } from '../../../solana/units.ts';
import type { GeyserLimits } from './geyser-connection.ts';

/** Values by key, each there for as long as somebody needs it. */
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

  /**
   * Somebody needs a value.
   * @param make - called when nobody needed it before.
   * @returns what ends that; harmless when it is over.
   */
  add(key: Key, make: () => Value): () => void {
    const entry = this.#entries.get(key) ?? { value: make(), count: 0 };
    entry.count++;
    this.#entries.set(key, entry);
    let isActive = true;
    return () => {
      if (!isActive) return;
      isActive = false;
      entry.count--;
      if (entry.count === 0) this.#entries.delete(key);
    };
  }
}

const dataFilter = (filter: AccountFilter): AccountsDataFilter =>
  filter.kind === 'dataSize' ? { kind: 'dataSize', bytes: filter.size } : filter;

/** The key of no filters is ''. */
const keyOf = (filters: readonly AccountFilter[]): string =>
  filters
    .map((filter) => {
      if (filter.kind === 'dataSize') return `size ${filter.size}`;
      if (filter.kind === 'tokenAccountState') return filter.kind;
      return `memcmp ${filter.offset} ${Buffer.from(filter.bytes).toString('hex')}`;
    })
    .join(',');

type ProgramFiltersOptions = Readonly<{
  program: Address;
  /** Beyond so many different ones the whole program is asked for. */
  filtersMax: number;
  /** A name that no other filter of the request has. */
  nextName: () => string;
}>;

/** What is wanted of one program's accounts, as parts of a request. */
class ProgramFilters {
  readonly #options: ProgramFiltersOptions;
  readonly #filters = new RefCountedMap<string, Uint8Array>();
  readonly #whole: Uint8Array;

  constructor(options: ProgramFiltersOptions) {
    this.#options = options;
    this.#whole = this.#encode([]);
  }

  /** Filters that a request may need for it, also after some of what is wanted has ended. */
  get count(): number {
    return Math.min(this.#filters.size, this.#options.filtersMax);
  }

  /** @returns what ends it; harmless when it is over. */
  add(filters: readonly AccountFilter[]): () => void {
    return this.#filters.add(keyOf(filters), () => this.#encode(filters));
  }

  /** Encoded parts of a request: one for each filter, or one for the program where all of it is needed. */
  parts(): Iterable<Uint8Array> {
    const isWhole = this.#filters.has('') || this.#filters.size > this.#options.filtersMax;
    return isWhole ? [this.#whole] : this.#filters.values();
  }

  #encode(filters: readonly AccountFilter[]): Uint8Array {
    const { program, nextName } = this.#options;
    const filter = { owner: [program], filters: filters.map(dataFilter) };
    return encodeSubscribeRequest({ accounts: new Map([[nextName(), filter]]) });
  }
}

/**
 * What a Geyser stream feeds. `slotsUpdates` is not among them because no plugin tells when a bank is frozen and
 * with what, `block` because a block costs far more than its transactions, `vote` because gossip is not told.
 */
export const geyserKinds: ReadonlySet<SubscriptionKind> = new Set<SubscriptionKind>([
  'account',
  'logs',
  'program',
  'root',
  'signature',
  'slot',
  'transaction',
]);

/** In every request: the course of the slots, which tells when what was told is confirmed and finalized. */
const baseRequest = encodeSubscribeRequest({
  slots: new Map([['s', { interslotUpdates: true }]]),
  commitment: 'processed',
});
const SLOTS_FILTERS = 1;

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

const addressesIn = ({ accountInclude, accountExclude, accountRequired }: TransactionsFilter): number =>
  (accountInclude?.length ?? 0) + (accountExclude?.length ?? 0) + (accountRequired?.length ?? 0);

/** One filter for many addresses, encoded again only after they have changed. */
class AddressFilter {
  readonly #addresses = new RefCountedMap<Address, null>();
  readonly #request: (addresses: readonly Address[]) => SubscribeRequest;
  #part: Uint8Array | null = null;

  constructor(request: (addresses: readonly Address[]) => SubscribeRequest) {
    this.#request = request;
  }

  get size(): number {
    return this.#addresses.size;
  }

  get count(): number {
    return this.size > 0 ? 1 : 0;
  }

  add(address: Address): () => void {
    const end = this.#addresses.add(address, () => null);
    this.#part = null;
    return () => {
      end();
      this.#part = null;
    };
  }

  *parts(): Iterable<Uint8Array> {
    if (this.size === 0) return;
    this.#part ??= encodeSubscribeRequest(this.#request([...this.#addresses.keys()]));
    yield this.#part;
  }
}

/**
 * One request for all that subscriptions ask, kept as encoded parts: a message of protobuf may be written in parts,
 * one behind the other. Everything is asked at `processed`. Filters of programs are the server's work: an account
 * that passes and, later in the same slot, does not any more, is told as it was when it passed.
 */
export class SubscribeRequestBuilder {
  readonly #limits: Pick<GeyserLimits, 'filtersMax' | 'addressesMax' | 'programFiltersMax'>;
  readonly #accounts = new AddressFilter((account) => ({ accounts: new Map([['a0', { account }]]) }));
  readonly #mentions = new AddressFilter((accountInclude) => ({
    transactions: new Map([['t0', { accountInclude }]]),
  }));
  readonly #programs = new Map<Address, ProgramFilters>();
  readonly #transactions = new RefCountedMap<string, Uint8Array>();
  #programFilters = 0;
  /** Addresses that transactions are filtered by, but for the mentions. */
  #filteredAddresses = 0;
  #names = 0;

  constructor(limits: Pick<GeyserLimits, 'filtersMax' | 'addressesMax' | 'programFiltersMax'>) {
    this.#limits = limits;
  }

  /**
   * Takes a subscription in.
   * @returns what takes it out again, harmless when it is out; null when there is no room for it.
   */
  add(subscription: Subscription): (() => void) | null {
    const end = this.#addFilter(subscription);
    if (this.#fits) return end;
    end();
    return null;
  }

  /** The request, encoded. @param fromSlot - where to begin; null for now. */
  encode(fromSlot: Slot | null): Uint8Array {
    const parts = [baseRequest, ...this.#accounts.parts()];
    for (const program of this.#programs.values()) parts.push(...program.parts());
    parts.push(...this.#transactions.values(), ...this.#mentions.parts());
    if (fromSlot !== null) parts.push(encodeSubscribeRequest({ fromSlot }));
    return Buffer.concat(parts);
  }

  get #fits(): boolean {
    const { filtersMax, addressesMax } = this.#limits;
    const filters =
      this.#accounts.count + this.#mentions.count + this.#programFilters + this.#transactions.size;
    const addresses = this.#accounts.size + this.#mentions.size + this.#filteredAddresses;
    return filters + SLOTS_FILTERS <= filtersMax && addresses <= addressesMax;
  }

  #addFilter(subscription: Subscription): () => void {
    switch (subscription.kind) {
      case 'account':
        return this.#accounts.add(subscription.address);
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
    return this.#mentions.add(of.mentions);
  }

  #addTransactions(filter: TransactionsFilter): () => void {
    const size = this.#transactions.size;
    const end = this.#transactions.add(JSON.stringify(filter), () =>
      encodeSubscribeRequest({ transactions: new Map([[this.#nextName('t'), filter]]) }),
    );
    if (this.#transactions.size > size) this.#filteredAddresses += addressesIn(filter);
    return () => {
      const before = this.#transactions.size;
      end();
      if (this.#transactions.size < before) this.#filteredAddresses -= addressesIn(filter);
    };
  }

  #addProgram({ program, filters }: SubscriptionOf<'program'>): () => void {
    const group = this.#programs.get(program) ?? this.#newProgram(program);
    this.#programs.set(program, group);
    const end = this.#recount(group, () => group.add(filters));
    return () => {
      this.#recount(group, end);
      if (group.count === 0 && this.#programs.get(program) === group) this.#programs.delete(program);
    };
  }

  #newProgram(program: Address): ProgramFilters {
    const { programFiltersMax: filtersMax } = this.#limits;
    return new ProgramFilters({ program, filtersMax, nextName: () => this.#nextName('a') });
  }

  #recount<Result>(program: ProgramFilters, change: () => Result): Result {
    this.#programFilters -= program.count;
    const result = change();
    this.#programFilters += program.count;
    return result;
  }

  #nextName(prefix: string): string {
    this.#names++;
    return `${prefix}${this.#names}`;
  }
}

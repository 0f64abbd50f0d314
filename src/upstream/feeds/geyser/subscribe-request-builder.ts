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
   * @param make - called for a new key.
   * @returns a function that releases the reference; idempotent.
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

/** '' for no filters. */
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
  /** Beyond it, the whole program is requested. */
  filtersMax: number;
  /** Returns a unique filter name. */
  nextName: () => string;
}>;

/** Filters of one program's accounts, as encoded request parts. */
class ProgramFilters {
  readonly #options: ProgramFiltersOptions;
  readonly #filters = new RefCountedMap<string, Uint8Array>();
  readonly #whole: Uint8Array;

  constructor(options: ProgramFiltersOptions) {
    this.#options = options;
    this.#whole = this.#encode([]);
  }

  /** Filters that the request may need, also after some are removed. */
  get count(): number {
    return Math.min(this.#filters.size, this.#options.filtersMax);
  }

  /** @returns a function that removes them; idempotent. */
  add(filters: readonly AccountFilter[]): () => void {
    return this.#filters.add(keyOf(filters), () => this.#encode(filters));
  }

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
 * Kinds that a Geyser stream feeds. Not `slotsUpdates`: plugins do not report frozen banks; not `block`: it
 * costs far more than its transactions; not `vote`: gossip votes are not reported.
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

/** Slot updates, which carry the commitments, are part of every request. */
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

/** One filter for many addresses; encoded again only after a change. */
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
 * Builds one request from all subscriptions, as encoded parts: concatenated protobuf messages merge into one.
 * Always at `processed`. Servers apply program filters: an account that matches and later in the same slot
 * does not is emitted in its matching state.
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
  /** Addresses in transaction filters other than mentions. */
  #filteredAddresses = 0;
  #names = 0;

  constructor(limits: Pick<GeyserLimits, 'filtersMax' | 'addressesMax' | 'programFiltersMax'>) {
    this.#limits = limits;
  }

  /** @returns a function that removes the subscription, idempotent; null beyond the limits. */
  add(subscription: Subscription): (() => void) | null {
    const end = this.#addFilter(subscription);
    if (this.#fits) return end;
    end();
    return null;
  }

  /** @param fromSlot - first slot of a replay; null for none. */
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

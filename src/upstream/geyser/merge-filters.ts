import { bytesKey } from '../../base/text/bytes-key.ts';
import { type RawUpdate, updateKinds } from '../../protocol/geyser/raw-update.ts';
import {
  type AccountsFilter,
  encodeSubscribeRequest,
  type SlotsFilter,
  type SubscribeRequest,
  type TransactionsFilter,
} from '../../protocol/geyser/subscribe-request.ts';
import type { Address } from '../../solana/address.ts';
import { filtersCount, pubkeysCount } from '../../streams/geyser/filters/request-size.ts';
import { requestedKinds } from '../../streams/geyser/filters/requested-kinds.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';

/** Scopes other than `exact` are for servers that reject the exact request. */
export const requestScopes = ['exact', 'withoutCounts', 'broad'] as const;
export type RequestScope = (typeof requestScopes)[number];

type Limits = Pick<GeyserSourceOptions, 'filtersMax' | 'addressesMax'>;

/** Kinds whose number per slot is in the block meta. */
export type CountedKind = 'transaction' | 'entry';

export type EncodedRequest = Readonly<{
  bytes: Buffer;
  /** Equal for equal requests. */
  key: string;
  /** Kinds of which a server sends every update, so that their number can be checked. */
  unfiltered: ReadonlySet<CountedKind>;
}>;

/** Included in every request, to receive the start, end and commitment of each slot. */
const slots = new Map<string, SlotsFilter>([['s', { interslotUpdates: true }]]);
/** Requests block messages without content: they mark complete slots and count their account writes. */
const counts = new Map([
  ['b', { includeTransactions: false, includeAccounts: false, includeEntries: false }],
]);
/** Number of filters in `baseRequest` that count against `filtersMax`. */
const SLOTS_FILTERS = 1;
const baseRequest: SubscribeRequest = { slots, blocksMeta: ['m'], commitment: 'processed' };

const fullRequest = (scope: RequestScope): SubscribeRequest => ({
  ...baseRequest,
  accounts: new Map([['a', {}]]),
  transactions: new Map([['t', {}]]),
  entry: ['e'],
  ...(scope === 'exact' ? { blocks: counts } : {}),
});

const isEmpty = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;

const keyOf = (value: unknown): string =>
  JSON.stringify(value, (_, part) => {
    if (typeof part === 'bigint') return `${part}n`;
    return part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part;
  });

export const named = <Filter>(prefix: string, filters: readonly Filter[]): Map<string, Filter> =>
  new Map(filters.map((filter, at) => [`${prefix}${at}`, filter]));

const sorted = (addresses: Iterable<Address>): readonly Address[] => [...new Set(addresses)].sort();

/** Drops cuckoo filters, which are large and may be unsupported. The result may match more, but never less. */
function accountsFilters(request: SubscribeRequest): AccountsFilter[] {
  const filters = [...(request.accounts?.values() ?? [])].map(({ cuckooAccounts, account, ...rest }) =>
    cuckooAccounts !== undefined || account === undefined ? rest : { ...rest, account },
  );
  for (const block of request.blocks?.values() ?? []) {
    if (block.includeAccounts !== true) continue;
    const account = block.cuckooAccountInclude === undefined ? block.accountInclude : undefined;
    filters.push(account === undefined ? {} : { account });
  }
  return filters;
}

/** Includes filters for transaction statuses, which are derived from transactions. */
function transactionsFilters(request: SubscribeRequest): TransactionsFilter[] {
  const requested = [
    ...(request.transactions?.values() ?? []),
    ...(request.transactionsStatus?.values() ?? []),
  ];
  const filters = requested.map(({ cuckooAccountInclude, accountInclude, ...rest }) =>
    cuckooAccountInclude !== undefined || accountInclude === undefined ? rest : { ...rest, accountInclude },
  );
  for (const block of request.blocks?.values() ?? []) {
    if (block.includeTransactions === false) continue;
    const accountInclude = block.cuckooAccountInclude === undefined ? block.accountInclude : undefined;
    filters.push(accountInclude === undefined ? {} : { accountInclude });
  }
  return filters;
}

const hasDataFilter = (filter: AccountsFilter): boolean =>
  !isEmpty(filter.filters) || filter.nonemptyTxnSignature !== undefined;

const withoutDataFilter = ({ filters, nonemptyTxnSignature, ...rest }: AccountsFilter): AccountsFilter =>
  rest;

function mergeAccountFilters(
  filters: readonly AccountsFilter[],
  { filtersMax, addressesMax }: Limits,
): AccountsFilter[] {
  const dataFilters = new Map<string, AccountsFilter>();
  const [accounts, owners] = [new Set<Address>(), new Set<Address>()];
  for (const filter of filters) {
    if (hasDataFilter(filter)) dataFilters.set(keyOf(filter), filter);
    else if (!isEmpty(filter.account)) for (const each of filter.account ?? []) accounts.add(each);
    else if (!isEmpty(filter.owner)) for (const each of filter.owner ?? []) owners.add(each);
    else return [{}];
  }
  if (dataFilters.size + 2 > filtersMax) {
    const plain = [...dataFilters.values()].map(withoutDataFilter);
    return mergeAccountFilters([...filters.filter((each) => !hasDataFilter(each)), ...plain], {
      filtersMax,
      addressesMax,
    });
  }
  const rest = [...dataFilters.values()].filter(
    ({ owner }) => isEmpty(owner) || owner?.some((each) => !owners.has(each)),
  );
  const addresses = rest.reduce(
    (sum, { account, owner }) => sum + (account?.length ?? 0) + (owner?.length ?? 0),
    accounts.size + owners.size,
  );
  if (addresses > addressesMax) return [{}];
  if (accounts.size > 0) rest.push({ account: sorted(accounts) });
  if (owners.size > 0) rest.push({ owner: sorted(owners) });
  return rest;
}

const isUnfiltered = (filter: TransactionsFilter): boolean =>
  filter.vote === undefined &&
  filter.failed === undefined &&
  filter.signature === undefined &&
  isEmpty(filter.accountInclude) &&
  isEmpty(filter.accountExclude) &&
  isEmpty(filter.accountRequired);

/** Merges filters that differ only in `accountInclude`, which matches any address in its list. */
function mergeTransactionFilters(
  filters: readonly TransactionsFilter[],
  limits: Limits,
): TransactionsFilter[] {
  const groups = new Map<string, { rest: TransactionsFilter; include: Set<Address> | null }>();
  for (const { accountInclude, ...rest } of filters) {
    if (isUnfiltered({ ...rest, accountInclude: accountInclude ?? [] })) return [{}];
    const key = keyOf(rest);
    const group = groups.get(key) ?? { rest, include: new Set<Address>() };
    groups.set(key, group);
    if (isEmpty(accountInclude)) group.include = null;
    for (const each of accountInclude ?? []) group.include?.add(each);
  }
  let addresses = 0;
  const merged = [...groups.values()].map(({ rest, include }) => {
    addresses +=
      (include?.size ?? 0) + (rest.accountExclude?.length ?? 0) + (rest.accountRequired?.length ?? 0);
    return include === null || include.size === 0 ? rest : { ...rest, accountInclude: sorted(include) };
  });
  if (merged.length <= limits.filtersMax && addresses <= limits.addressesMax) return merged;
  return merged.every(({ vote }) => vote === false) ? [{ vote: false }] : [{}];
}

function encodedOf(request: SubscribeRequest): EncodedRequest {
  const bytes = Buffer.from(encodeSubscribeRequest(request));
  const unfiltered = new Set<CountedKind>();
  if ([...(request.transactions?.values() ?? [])].some(isUnfiltered)) unfiltered.add('transaction');
  if (!isEmpty(request.entry)) unfiltered.add('entry');
  return { bytes, key: bytesKey(bytes), unfiltered };
}

export type FiltersSize = Readonly<{ filters: number; addresses: number }>;

const UNLIMITED: Limits = { filtersMax: Number.POSITIVE_INFINITY, addressesMax: Number.POSITIVE_INFINITY };

function sizeOf(requests: readonly SubscribeRequest[]): FiltersSize {
  const accounts = mergeAccountFilters(requests.flatMap(accountsFilters), UNLIMITED);
  const transactions = mergeTransactionFilters(requests.flatMap(transactionsFilters), UNLIMITED);
  const merged = { accounts: named('a', accounts), transactions: named('t', transactions) };
  return { filters: filtersCount(merged), addresses: pubkeysCount(merged) };
}

type FilterMergerOptions = Limits & Partial<Pick<GeyserSourceOptions, 'demand'>>;

/** Merges requests into one, which may match more than consumers requested, but never less. Consumers filter again. */
export class FilterMerger {
  readonly #options: FilterMergerOptions;
  readonly #requests = new Set<SubscribeRequest>();
  readonly #providers = new Set<() => SubscribeRequest>();
  readonly #encoded = new Map<RequestScope, EncodedRequest>();
  #requestsSize: FiltersSize | null = null;

  constructor(options: FilterMergerOptions) {
    this.#options = options;
  }

  /** @returns an idempotent function that removes the request. */
  add(request: SubscribeRequest): () => void {
    const entry = { ...request };
    const change = (apply: () => void): void => {
      apply();
      this.#requestsSize = null;
      this.markChanged();
    };
    change(() => this.#requests.add(entry));
    return () => change(() => this.#requests.delete(entry));
  }

  /** Call `markChanged` when the provider's request changes. */
  addProvider(provider: () => SubscribeRequest): void {
    this.#providers.add(provider);
    this.markChanged();
  }

  markChanged(): void {
    this.#encoded.clear();
  }

  get kinds(): ReadonlySet<RawUpdate['kind']> {
    if (this.#options.demand === 'full') return updateKinds;
    return new Set(this.#all().flatMap((request) => [...requestedKinds(request)]));
  }

  /** Whether servers accept these filters in addition to the requests passed to `add`. */
  fits({ filters, addresses }: FiltersSize): boolean {
    const { filtersMax, addressesMax, demand } = this.#options;
    if (demand === 'full') return true;
    this.#requestsSize ??= sizeOf([...this.#requests]);
    const size = this.#requestsSize;
    return size.filters + filters + SLOTS_FILTERS <= filtersMax && size.addresses + addresses <= addressesMax;
  }

  encode(scope: RequestScope): EncodedRequest {
    const encoded = this.#encoded.get(scope) ?? encodedOf(this.request(scope));
    this.#encoded.set(scope, encoded);
    return encoded;
  }

  /** Equal sets of requests give equal results, regardless of their order. */
  request(scope: RequestScope): SubscribeRequest {
    if (this.#options.demand === 'full') return fullRequest(scope);
    const requests = this.#all();
    const requested = requests.flatMap(accountsFilters);
    const accounts = mergeAccountFilters(
      // Servers are more likely to reject conditions other than addresses and owners.
      scope === 'broad' ? requested.map(withoutDataFilter) : requested,
      this.#options,
    );
    const transactions = mergeTransactionFilters(requests.flatMap(transactionsFilters), this.#options);
    const isBroad = scope === 'broad' && transactions.length > 1;
    const byKey = <Filter>(filters: Filter[]): Filter[] =>
      filters.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
    return {
      ...baseRequest,
      ...(accounts.length === 0 ? {} : { accounts: named('a', byKey(accounts)) }),
      ...(transactions.length === 0
        ? {}
        : { transactions: named('t', isBroad ? [{}] : byKey(transactions)) }),
      ...(requests.some((each) => requestedKinds(each).has('entry')) ? { entry: ['e'] } : {}),
      ...(scope === 'exact' ? { blocks: counts } : {}),
    };
  }

  #all(): SubscribeRequest[] {
    return [...this.#requests, ...[...this.#providers].map((provider) => provider())];
  }
}

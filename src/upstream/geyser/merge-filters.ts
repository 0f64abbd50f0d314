import type {
  AccountsFilter,
  SlotsFilter,
  SubscribeRequest,
  TransactionsFilter,
} from '../../protocol/geyser/subscribe-request.ts';
import type { Address } from '../../solana/address.ts';
import type { GeyserSourceOptions } from './geyser-source-options.ts';

/** How much is asked of a server that refuses. */
export const requestScopes = ['exact', 'withoutCounts', 'broad'] as const;
export type RequestScope = (typeof requestScopes)[number];

/** Kinds of content that somebody wants. */
export type RequestedKinds = Readonly<{ accounts: boolean; transactions: boolean; entries: boolean }>;

type Limits = Pick<GeyserSourceOptions, 'filtersMax' | 'addressesMax'>;

/** In every request: what tells where a slot begins and ends, and how far it has come. */
const slots = new Map<string, SlotsFilter>([['s', { interslotUpdates: true }]]);
/** A block with nothing in it tells that all of its slot was told, and how many accounts that has written. */
const counts = new Map([
  ['b', { includeTransactions: false, includeAccounts: false, includeEntries: false }],
]);
const baseRequest: SubscribeRequest = { slots, blocksMeta: ['m'], commitment: 'processed' };

/** All there is. */
export const fullRequest = (scope: RequestScope): SubscribeRequest => ({
  ...baseRequest,
  accounts: new Map([['a', {}]]),
  transactions: new Map([['t', {}]]),
  entry: ['e'],
  ...(scope === 'exact' ? { blocks: counts } : {}),
});

const isEmpty = (list: readonly unknown[] | undefined): boolean => list === undefined || list.length === 0;

/** Values that JSON does not know. */
const keyOf = (value: unknown): string =>
  JSON.stringify(value, (_, part) => {
    if (typeof part === 'bigint') return `${part}n`;
    return part instanceof Uint8Array ? Buffer.from(part).toString('base64') : part;
  });

const named = <Filter>(prefix: string, filters: readonly Filter[]): Map<string, Filter> =>
  new Map(filters.map((filter, at) => [`${prefix}${at}`, filter]));

const sorted = (addresses: Iterable<Address>): readonly Address[] => [...new Set(addresses)].sort();

/**
 * Cuckoo filters stay here: they are large, servers may not know them, and without them, and the list beside them,
 * a filter only asks for more.
 */
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

/** Statuses are made from transactions. */
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

const hasEntriesFilter = (request: SubscribeRequest): boolean =>
  !isEmpty(request.entry) || [...(request.blocks?.values() ?? [])].some((block) => block.includeEntries);

const hasDataFilter = (filter: AccountsFilter): boolean =>
  !isEmpty(filter.filters) || filter.nonemptyTxnSignature !== undefined;

/** Accounts by address first, then programs, then what looks into the data: one filter for each list. */
function mergeAccountFilters(
  filters: readonly AccountsFilter[],
  { filtersMax, addressesMax }: Limits,
): AccountsFilter[] {
  const ofData = new Map<string, AccountsFilter>();
  const [accounts, owners] = [new Set<Address>(), new Set<Address>()];
  for (const filter of filters) {
    if (hasDataFilter(filter)) ofData.set(keyOf(filter), filter);
    else if (!isEmpty(filter.account)) for (const each of filter.account ?? []) accounts.add(each);
    else if (!isEmpty(filter.owner)) for (const each of filter.owner ?? []) owners.add(each);
    else return [{}];
  }
  if (ofData.size + 2 > filtersMax) {
    const plain = [...ofData.values()].map(({ account, owner }) => ({
      ...(account === undefined ? {} : { account }),
      ...(owner === undefined ? {} : { owner }),
    }));
    return mergeAccountFilters([...filters.filter((each) => !hasDataFilter(each)), ...plain], {
      filtersMax,
      addressesMax,
    });
  }
  const rest = [...ofData.values()].filter(
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

/** Filters that differ only in `accountInclude`, which is any of a list, are one with all of the lists. */
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

/** Leaves out what servers refuse first: looks into data, and exclusions. */
const broadenFilters = (filters: readonly AccountsFilter[]): AccountsFilter[] =>
  filters.map(({ account, owner }) => ({
    ...(isEmpty(account) ? {} : { account: account! }),
    ...(isEmpty(owner) || !isEmpty(account) ? {} : { owner: owner! }),
  }));

/**
 * One request for all that streams want. It may ask for more than that, never for less: whoever hears the answers
 * filters again. Everything is asked at `processed`, with whole data.
 */
export class FilterMerger {
  readonly #limits: Limits;
  readonly #requests = new Set<SubscribeRequest>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @returns what takes it out again; harmless when it is out. */
  add(request: SubscribeRequest): () => void {
    const entry = { ...request };
    this.#requests.add(entry);
    return () => this.#requests.delete(entry);
  }

  get kinds(): RequestedKinds {
    const requests = [...this.#requests];
    return {
      accounts: requests.some((request) => accountsFilters(request).length > 0),
      transactions: requests.some((request) => transactionsFilters(request).length > 0),
      entries: requests.some(hasEntriesFilter),
    };
  }

  /** The request. Equal wishes make equal requests, in whatever order they came. */
  request(scope: RequestScope): SubscribeRequest {
    const requests = [...this.#requests];
    const requested = requests.flatMap(accountsFilters);
    const accounts = mergeAccountFilters(
      scope === 'broad' ? broadenFilters(requested) : requested,
      this.#limits,
    );
    const transactions = mergeTransactionFilters(requests.flatMap(transactionsFilters), this.#limits);
    const isBroad = scope === 'broad' && transactions.length > 1;
    const byKey = <Filter>(filters: Filter[]): Filter[] =>
      filters.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
    return {
      ...baseRequest,
      ...(accounts.length === 0 ? {} : { accounts: named('a', byKey(accounts)) }),
      ...(transactions.length === 0
        ? {}
        : { transactions: named('t', isBroad ? [{}] : byKey(transactions)) }),
      ...(requests.some(hasEntriesFilter) ? { entry: ['e'] } : {}),
      ...(scope === 'exact' ? { blocks: counts } : {}),
    };
  }
}

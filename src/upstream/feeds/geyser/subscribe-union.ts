import type { Address } from '../../../ledger/address.ts';
import type {
  AccountsDataFilter,
  AccountsFilter,
  SubscribeRequest,
  TransactionsFilter,
} from '../../../protocol/geyser/subscribe-request.ts';
import type { AccountFilter } from '../../../protocol/rpc/account-filter.ts';
import type {
  Subscription,
  SubscriptionKind,
  SubscriptionOf,
  TransactionFilter,
} from '../../../protocol/subscriptions.ts';

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

/** Filters for one program: those of its subscriptions, or none when that many would be too many. */
function programFilters(
  program: Address,
  wanted: readonly SubscriptionOf<'program'>[],
  filtersMax: number,
): AccountsFilter[] {
  const distinct = new Map(wanted.map(({ filters }) => [keyOf(filters), filters]));
  if (distinct.has('') || distinct.size > filtersMax) return [{ owner: [program] }];
  return [...distinct.values()].map((filters) => ({ owner: [program], filters: filters.map(dataFilter) }));
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

function transactionFilters(subscriptions: readonly Subscription[]): TransactionsFilter[] {
  const filters: TransactionsFilter[] = [];
  const mentions = new Set<Address>();
  for (const each of subscriptions) {
    if (each.kind === 'signature') filters.push({ signature: each.signature });
    else if (each.kind === 'transaction') filters.push(transactionFilter(each.filter));
    else if (each.kind !== 'logs') continue;
    else if (each.of === 'all') filters.push({ vote: false });
    else if (each.of === 'allWithVotes') filters.push({});
    else mentions.add(each.of.mentions);
  }
  if (mentions.size > 0) filters.push({ accountInclude: [...mentions] });
  return [...new Map(filters.map((filter) => [JSON.stringify(filter), filter])).values()];
}

function accountFilters(subscriptions: readonly Subscription[], programFiltersMax: number): AccountsFilter[] {
  const addresses = new Set<Address>();
  const programs = new Map<Address, SubscriptionOf<'program'>[]>();
  for (const each of subscriptions) {
    if (each.kind === 'account') addresses.add(each.address);
    if (each.kind === 'program') programs.set(each.program, [...(programs.get(each.program) ?? []), each]);
  }
  const owned = [...programs].flatMap(([program, wanted]) =>
    programFilters(program, wanted, programFiltersMax),
  );
  return addresses.size === 0 ? owned : [{ account: [...addresses] }, ...owned];
}

const named = <Filter>(prefix: string, filters: readonly Filter[]): Record<string, Filter> =>
  Object.fromEntries(filters.map((filter, index) => [`${prefix}${index}`, filter]));

/**
 * One request for all that subscriptions ask. Everything is asked at `processed`, together with the course of the
 * slots, which tells when it is confirmed and finalized. Filters of programs are the server's work: an account that
 * passes and, later in the same slot, does not any more, is told as it was when it passed.
 */
export function unionOf(subscriptions: Iterable<Subscription>, programFiltersMax: number): SubscribeRequest {
  const all = [...subscriptions];
  return {
    accounts: named('a', accountFilters(all, programFiltersMax)),
    transactions: named('t', transactionFilters(all)),
    slots: { s: { interslotUpdates: true } },
    commitment: 'processed',
  };
}

/** Filters of a request, which servers count. */
export const filterCount = ({ accounts, transactions }: SubscribeRequest): number =>
  Object.keys(accounts ?? {}).length + Object.keys(transactions ?? {}).length + 1;

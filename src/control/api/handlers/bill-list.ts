import { sql } from 'kysely';
import { totalsOf } from '../../billing/bill.ts';
import type { Month } from '../../billing/month.ts';
import { type BillSummary, billedCustomers, MonthBills, summarizeBills } from '../../billing/month-bills.ts';
import type { CustomerTable } from '../../database/tables/accounts.ts';
import type { ParsedRouteInput } from '../contract/contract.ts';
import {
  contains,
  decodeSortedCursor,
  encodeCursor,
  pageOfRows,
  type SortKeys,
  selectPage,
} from '../cursor.ts';
import type { ApiServices } from '../services.ts';

const sortKeys = {
  name: { type: 'string', value: sql<string>`lower(name)` },
} as const satisfies SortKeys<string>;

type BillsQuery = ParsedRouteInput<'GET /billing'>['query'];
type Sort = NonNullable<BillsQuery['sort']>;

const amounts = {
  requests: ({ requests }: BillSummary) => requests,
  credits: ({ credits }: BillSummary) => credits,
  total: ({ totals }: BillSummary) => totals[0]?.amount ?? 0,
} as const;
type AmountName = keyof typeof amounts;

const isAmount = (name: string): name is AmountName => Object.hasOwn(amounts, name);

/** A page in the order of an amount, and then of the id. */
function pageByAmount(
  summaries: readonly BillSummary[],
  name: AmountName,
  sort: Sort,
  { cursor, limit }: Pick<BillsQuery, 'cursor' | 'limit'>,
) {
  const sign = sort.startsWith('-') ? -1 : 1;
  const last = decodeSortedCursor(cursor, sort, 'number');
  const compare = (one: Readonly<{ value: number; id: string }>, other: typeof one): number =>
    sign * (one.value - other.value || (one.id < other.id ? -1 : Number(one.id > other.id)));
  const rows = summaries
    .map((summary) => ({ id: summary.customerId, value: amounts[name](summary), summary }))
    .filter((row) => last === null || compare(row, { value: Number(last.value), id: last.id }) > 0)
    .sort(compare);
  return pageOfRows(
    rows,
    limit,
    ({ summary }) => summary,
    ({ value, id }) => encodeCursor(sort, value, id),
  );
}

/** Lists the bills of a month. Orders by name compute only the bills of the page; others use cached summaries. */
export function billLists({ store, now }: ApiServices) {
  const bills = new MonthBills(store, now);
  return {
    async readPage(month: Month, { search = '', sort, ...page }: BillsQuery) {
      const text = search.trim();
      const name = sort?.replace(/^-/, '') ?? '';
      if (sort !== undefined && isAmount(name)) {
        const wanted = text.toLowerCase();
        const all = await bills.readAll(month);
        const found = all.filter(
          ({ customerId, customerName }) =>
            customerId === text || customerName.toLowerCase().includes(wanted),
        );
        return pageByAmount(found, name, sort, page);
      }
      const query = billedCustomers(store.db, month).$if(text !== '', (some) =>
        some.where((build) => build.or([contains(sql.ref('name'), text), build('id', '=', text)])),
      );
      const order = { ...page, sort: sort as 'name' | '-name' | undefined };
      const { rows, next } = await selectPage(query as never, order, sortKeys);
      return { items: await summarizeBills(store, month, now(), rows as CustomerTable[]), next };
    },
    /** Reads the totals over all customers. */
    async readTotals(month: Month) {
      const all = await bills.readAll(month);
      return {
        requests: all.reduce((sum, { requests }) => sum + requests, 0),
        credits: all.reduce((sum, { credits }) => sum + credits, 0),
        totals: totalsOf(all.flatMap(({ totals }) => totals)),
      };
    },
  };
}

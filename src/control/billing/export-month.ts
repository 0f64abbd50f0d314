import { type RawBuilder, sql } from 'kysely';
import type { Product } from '../../protocol/product.ts';
import { pagesOf } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import type { UsageCounters } from '../database/tables/usage.ts';
import { segmentsOf } from '../usage/read-usage.ts';
import { counterColumns, counterSums } from '../usage/usage-sums.ts';
import { daysOf, type Month } from './month.ts';

export type MonthUsage = Omit<UsageCounters, 'latency'> &
  Readonly<{ customer_id: string; key_id: string; product: Product; method: string }>;

const PAGE_ROWS = 1_000;

const names = sql.raw('key_id, product, method');
const columns = sql.raw(['customer_id', 'key_id', 'product', 'method', ...counterColumns].join(', '));

/**
 * Yields the usage of a month by key, product and method, page by page. @param customerId - absent: all customers.
 */
export async function* exportMonth(
  { db }: Store,
  month: Month,
  nowMs: number,
  customerId?: string,
): AsyncGenerator<MonthUsage[]> {
  const segments = await segmentsOf(db, 'detail', daysOf(month, nowMs));
  yield* pagesOf<MonthUsage>(PAGE_ROWS, async (last) => {
    const parts = segments.map(({ step, from, to }) => {
      const bucket = sql.ref(step);
      const conditions: RawBuilder<unknown>[] = [sql`${bucket} >= ${from}`, sql`${bucket} < ${to}`];
      if (customerId !== undefined) conditions.push(sql`customer_id = ${customerId}`);
      // Repeats the condition on the first column here, so that later pages read fewer rows.
      if (last !== null) conditions.push(sql`key_id >= ${last.key_id}`);
      return sql`select ${columns} from ${sql.table(`usage_${step}`)} where ${sql.join(conditions, sql` and `)}`;
    });
    if (parts.length === 0) return [];
    const afterLastRow =
      last === null ? sql`` : sql`where (${names}) > (${last.key_id}, ${last.product}, ${last.method})`;
    const { rows } = await sql<MonthUsage>`
      select max(customer_id) as customer_id, ${names}, ${counterSums}
      from (${sql.join(parts, sql` union all `)}) as part ${afterLastRow}
      group by ${names} order by ${names} limit ${PAGE_ROWS}`.execute(db);
    return rows;
  });
}

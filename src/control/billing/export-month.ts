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

/** Keys per page: few, because a key may have rows of many methods. */
const PAGE_KEYS = 250;

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
  if (segments.length === 0) return;
  const partsWhere = (ofKeys: RawBuilder<unknown>): RawBuilder<unknown>[] =>
    segments.map(({ step, from, to }) => {
      const bucket = sql.ref(step);
      const ofCustomer = customerId === undefined ? sql`` : sql`and customer_id = ${customerId}`;
      return sql`from ${sql.table(`usage_${step}`)}
        where ${bucket} >= ${from} and ${bucket} < ${to} ${ofCustomer} and ${ofKeys}`;
    });
  const pages = pagesOf<Pick<MonthUsage, 'key_id'>>(PAGE_KEYS, async (last) => {
    const parts = partsWhere(last === null ? sql`1 = 1` : sql`key_id > ${last.key_id}`);
    // Each part is limited, so that a page reads the rows of its keys only.
    const keys = parts.map(
      (part) =>
        sql`select key_id from (select distinct key_id ${part} order by key_id limit ${PAGE_KEYS}) as part`,
    );
    const { rows } = await sql<Pick<MonthUsage, 'key_id'>>`${sql.join(keys, sql` union `)}
      order by key_id limit ${PAGE_KEYS}`.execute(db);
    return rows;
  });
  for await (const keys of pages) {
    const parts = partsWhere(sql`key_id between ${keys[0]?.key_id} and ${keys.at(-1)?.key_id}`);
    const selected = parts.map((part) => sql`select ${columns} ${part}`);
    const { rows } = await sql<MonthUsage>`select max(customer_id) as customer_id, ${names}, ${counterSums}
      from (${sql.join(selected, sql` union all `)}) as part
      group by ${names} order by ${names}`.execute(db);
    yield rows;
  }
}

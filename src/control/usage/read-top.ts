import { sql } from 'kysely';
import type { LatencyJson, TopSort } from '../api/contract/usage.ts';
import type { Store } from '../database/store.ts';
import { type GroupColumn, partsOf, percentilesOf, readLatencyRows, type UsageQuery } from './read-usage.ts';
import { addLatency, emptyLatencyHistogram } from './usage-sums.ts';

export type TopRow = Readonly<{
  name: string;
  requests: number;
  errors: number;
  credits: number;
  latency: LatencyJson;
}>;

/** When sorting by latency, only so many groups with the most requests are compared. */
const COMPARED_MAX = 100;

/** Groups in one statement, so that only the largest leave the database. */
async function readLargest(
  store: Store,
  query: UsageQuery,
  column: GroupColumn,
  order: Exclude<TopSort, 'p95'>,
  limit: number,
): Promise<Omit<TopRow, 'latency'>[]> {
  const parts = await partsOf(store, query, [column, 'status'], true);
  const sums = parts.map(
    ({ table, where }) => sql`select ${sql.ref(column)} as name, sum(requests) as requests,
      sum(case when status = 'ok' then 0 else requests end) as errors, sum(credits) as credits
      from ${sql.table(table)} where ${where} group by 1`,
  );
  const { rows } = await sql<Omit<TopRow, 'latency'>>`select name, cast(sum(requests) as bigint) as requests,
    cast(sum(errors) as bigint) as errors, cast(sum(credits) as bigint) as credits
    from (${sql.join(sums, sql` union all `)}) as part group by 1
    order by ${sql.raw({ requests: '2', errors: '3', credits: '4' }[order])} desc, 1 limit ${limit}`.execute(
    store.db,
  );
  return rows;
}

/** The largest groups by a column, largest first. */
export async function readTop(
  store: Store,
  query: UsageQuery,
  column: GroupColumn,
  sort: TopSort,
  limit: number,
): Promise<TopRow[]> {
  const largest =
    sort === 'p95'
      ? await readLargest(store, query, column, 'requests', COMPARED_MAX)
      : await readLargest(store, query, column, sort, limit);
  const latencies = new Map(largest.map(({ name }) => [name, emptyLatencyHistogram()]));
  if (largest.length > 0)
    await readLatencyRows(store, query, { column, values: [...latencies.keys()] }, (row) => {
      const sum = latencies.get(row.name);
      if (sum !== undefined) addLatency(sum, row.latency);
    });
  const rows = largest.map((row) => ({ ...row, latency: percentilesOf(latencies.get(row.name) ?? []) }));
  if (sort !== 'p95') return rows;
  return rows.sort((a, b) => (b.latency.p95 ?? -1) - (a.latency.p95 ?? -1)).slice(0, limit);
}

import { sql } from 'kysely';
import type { LatencyJson } from '../api/contract/usage.ts';
import type { Store } from '../database/store.ts';
import { type LargestOrder, selectLargest } from './largest-order.ts';
import {
  type Axis,
  type GroupColumn,
  type LatencyGroup,
  type LatencyRow,
  type OnSum,
  partsOf,
  readLatencyRows,
  readSums,
  type UsageQuery,
} from './read-usage.ts';

export type TopRow = Readonly<{
  name: string;
  requests: number;
  errors: number;
  credits: number;
  latency: LatencyJson;
}>;

export type Largest = Omit<TopRow, 'latency'> & Readonly<{ messages: number }>;

/** Reads usage for charts, lists and exports. Quotas and bills are read from the database. */
export interface UsageReader {
  /** See `readSums` in read-usage.ts. */
  readSums<Name extends GroupColumn>(
    query: UsageQuery,
    groupBy: readonly Name[],
    onRow: OnSum<Name>,
    steps?: Axis | null,
  ): Promise<void>;
  /** See `readLatencyRows` in read-usage.ts. */
  readLatencies(query: UsageQuery, by: LatencyGroup | null, onRow: (row: LatencyRow) => void): Promise<void>;
  /** The largest groups by a column, largest first. See `LargestOrder`. */
  readLargest(query: UsageQuery, column: GroupColumn, order: LargestOrder, limit: number): Promise<Largest[]>;
}

const failedRequests = "case when status = 'ok' then 0 else requests end";

const largestSums = (errors: string) =>
  sql.raw(
    Object.entries({ requests: 'requests', errors, credits: 'credits', messages: 'messages' })
      .map(([name, value]) => `cast(sum(${value}) as bigint) as ${name}`)
      .join(', '),
  );

/** The largest groups by a column, in one statement, so that only these leave the database. */
async function readLargest(
  store: Store,
  query: UsageQuery,
  column: GroupColumn,
  order: LargestOrder,
  limit: number,
): Promise<Largest[]> {
  const parts = await partsOf(store, query, [column, 'status'], true);
  const selects = parts.map(
    ({ table, where }) => sql`select ${sql.ref(column)} as name, ${largestSums(failedRequests)}
      from ${sql.table(table)} where ${where} group by 1`,
  );
  // Merges parts in the order of their names, without sorting or hashing the names.
  const { rows } = await sql<Largest>`select * from (
      select name, ${largestSums('errors')}
      from (${sql.join(selects, sql` union all `)} order by 1) as part group by 1
    ) as sums ${sql.raw(selectLargest(order, limit))}`.execute(store.db);
  return rows;
}

/** Usage in the database. */
export const databaseUsage = (store: Store): UsageReader => ({
  readSums: (query, groupBy, onRow, steps) => readSums(store, query, groupBy, onRow, steps),
  readLatencies: (query, by, onRow) => readLatencyRows(store, query, by, onRow),
  readLargest: (query, column, order, limit) => readLargest(store, query, column, order, limit),
});

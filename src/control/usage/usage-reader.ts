import { sql } from 'kysely';
import type { LatencyJson, TopSort } from '../api/contract/usage.ts';
import type { Store } from '../database/store.ts';
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

export type Largest = Omit<TopRow, 'latency'>;

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
  /** The largest groups by a column, largest first, without those that have only free notifications. */
  readLargest(
    query: UsageQuery,
    column: GroupColumn,
    order: Exclude<TopSort, 'p95'>,
    limit: number,
  ): Promise<Largest[]>;
}

/** The largest groups by a column, in one statement, so that only these leave the database. */
async function readLargest(
  store: Store,
  query: UsageQuery,
  column: GroupColumn,
  order: Exclude<TopSort, 'p95'>,
  limit: number,
): Promise<Largest[]> {
  const parts = await partsOf(store, query, [column, 'status'], true);
  const selects = parts.map(
    ({ table, where }) => sql`select ${sql.ref(column)} as name, requests,
      case when status = 'ok' then 0 else requests end as errors, credits
      from ${sql.table(table)} where ${where}`,
  );
  const { rows } = await sql<Largest>`select name, cast(sum(requests) as bigint) as requests,
    cast(sum(errors) as bigint) as errors, cast(sum(credits) as bigint) as credits
    from (${sql.join(selects, sql` union all `)}) as part group by 1
    having sum(requests) > 0 or sum(credits) > 0
    order by ${sql.raw({ requests: '2', errors: '3', credits: '4' }[order])} desc, 1 limit ${limit}`.execute(
    store.db,
  );
  return rows;
}

/** Usage in the database. */
export const databaseUsage = (store: Store): UsageReader => ({
  readSums: (query, groupBy, onRow, steps) => readSums(store, query, groupBy, onRow, steps),
  readLatencies: (query, by, onRow) => readLatencyRows(store, query, by, onRow),
  readLargest: (query, column, order, limit) => readLargest(store, query, column, order, limit),
});

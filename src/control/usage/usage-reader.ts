import type { TopSort } from '../api/contract/usage.ts';
import type { Store } from '../database/store.ts';
import { type Largest, readLargest } from './read-largest.ts';
import {
  type Axis,
  type GroupColumn,
  type LatencyGroup,
  type LatencyRow,
  type OnSum,
  readLatencyRows,
  readSums,
  type UsageQuery,
} from './read-usage.ts';

/** Reads usage for charts, lists and exports. Quotas and bills are read from the database. */
export interface UsageReader {
  /** See `readSums`. */
  sums<Name extends GroupColumn>(
    query: UsageQuery,
    groupBy: readonly Name[],
    onRow: OnSum<Name>,
    steps?: Axis | null,
  ): Promise<void>;
  /** See `readLatencyRows`. */
  latencies(query: UsageQuery, by: LatencyGroup | null, onRow: (row: LatencyRow) => void): Promise<void>;
  /** The largest groups by a column, largest first. */
  largest(
    query: UsageQuery,
    column: GroupColumn,
    order: Exclude<TopSort, 'p95'>,
    limit: number,
  ): Promise<Largest[]>;
}

/** Usage in the database. */
export const databaseUsage = (store: Store): UsageReader => ({
  sums: (query, groupBy, onRow, steps) => readSums(store, query, groupBy, onRow, steps),
  latencies: (query, by, onRow) => readLatencyRows(store, query, by, onRow),
  largest: (query, column, order, limit) => readLargest(store, query, column, order, limit),
});

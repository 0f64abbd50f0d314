import { sql } from 'kysely';
import type { UsageStatus } from '../../gateway/metering/usage-status.ts';
import type { Product } from '../../protocol/product.ts';
import type { Store } from '../database/store.ts';
import {
  type Axis,
  type GroupColumn,
  lengthOf,
  type Part,
  partOf,
  partsOf,
  stepIndexIn,
  type UsageQuery,
} from './read-usage.ts';

export type LatencyRow = Readonly<{ at: number; name: string; product: Product; latency: string }>;

/** Results and JSON-RPC errors from nodes. The duration of other failed calls says nothing about latency. */
export const LATENCY_STATUSES: readonly UsageStatus[] = ['ok', 'rpcError'];

/** With `values`, only rows with these values are reported, for the whole axis, with `at` 0. */
export type LatencyGroup = Readonly<{ column: GroupColumn; values?: readonly string[] }>;

type ListedQuery = Readonly<{
  query: UsageQuery;
  values?: readonly string[] | undefined;
  steps: Axis | null;
}>;

/** Selects listed keys by the filter, as indexes do, and other listed values by `values`. */
export function listedIn(query: UsageQuery, by: LatencyGroup | null): ListedQuery {
  const { axis, filter } = query;
  if (by?.values === undefined) return { query, steps: axis };
  if (by.column !== 'key_id') return { query, values: by.values, steps: null };
  return { query: { axis, filter: { ...filter, keys: by.values } }, steps: null };
}

/** Limits the memory for the histograms of one statement. One has up to 1 kB, but usually far less. */
export const LATENCY_ROWS_MAX = 50_000;

/**
 * Reports histograms by step, and by the column, whose value is `name`; null: `name` is empty. Each is a list of stored
 * histograms. A statement reads at most `rowsMax` rows or, if these are more, one minute, hour or day.
 */
export async function readLatencyRows(
  store: Store,
  given: UsageQuery,
  by: LatencyGroup | null,
  onRow: (row: LatencyRow) => void,
  rowsMax = LATENCY_ROWS_MAX,
): Promise<void> {
  const { query, values, steps } = listedIn(given, by);
  const name = by === null ? sql`''` : sql.ref(by.column);
  const isListed = values === undefined ? sql`` : sql`and ${name} in (${sql.join([...values])})`;
  const read = async (part: Part): Promise<void> => {
    const { table, segment } = part;
    const length = lengthOf(segment);
    const { rows } = await sql<LatencyRow & Readonly<{ rows: number }>>`select at, name, product,
      string_agg(latency, ',') as latency, count(*) as rows
      from (
        select ${stepIndexIn(steps, part)} as at, ${name} as name, product, latency from ${sql.table(table)}
        where ${part.where} and status in (${sql.join([...LATENCY_STATUSES])}) and latency <> '' ${isListed}
        ${length > 1 ? sql`limit ${rowsMax + 1}` : sql``}
      ) as part group by 1, 2, 3`.execute(store.db);
    if (length === 1 || rows.reduce((sum, row) => sum + Number(row.rows), 0) <= rowsMax) {
      for (const row of rows) onRow(row);
      return;
    }
    const middle = segment.from + Math.floor(length / 2);
    await read(partOf(table, { ...segment, to: middle }, query.filter));
    await read(partOf(table, { ...segment, from: middle }, query.filter));
  };
  for (const part of await partsOf(store, query, by === null ? [] : [by.column], steps === null))
    await read(part);
}

import { sql } from 'kysely';
import { pagesOf } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import {
  type Axis,
  type GroupColumn,
  partsOf,
  type UsageFilter,
  type UsageQuery,
  type UsageSum,
} from './read-usage.ts';
import type { UsageReader } from './usage-reader.ts';
import { counterColumns } from './usage-sums.ts';

/** Keys per page: few, because a key may have rows of many methods. */
const PAGE_KEYS = 100;

/** Yields the ids of keys with usage page by page. The database has them even if ClickHouse has the details. */
async function* keyPages(
  store: Store,
  axis: Axis,
  { customerId, keys }: UsageFilter,
  isWhole: boolean,
): AsyncGenerator<readonly string[]> {
  if (keys !== undefined) return yield keys;
  const parts = await partsOf(store, { axis, filter: { customerId } }, ['key_id'], isWhole);
  if (parts.length === 0) return;
  const pages = pagesOf<{ key_id: string }>(PAGE_KEYS, async (last) => {
    const isLater = last === null ? sql`` : sql`and key_id > ${last.key_id}`;
    // Limits each part, so that a page reads only the rows of its keys.
    const selects = parts.map(
      ({ table, where }) => sql`select key_id from (select distinct key_id from ${sql.table(table)}
        where ${where} ${isLater} order by key_id limit ${PAGE_KEYS}) as part`,
    );
    const { rows } = await sql<{ key_id: string }>`${sql.join(selects, sql` union `)}
      order by key_id limit ${PAGE_KEYS}`.execute(store.db);
    return rows;
  });
  for await (const rows of pages) yield rows.map(({ key_id }) => key_id);
}

type Exported<Name extends GroupColumn> = UsageSum<Name | 'key_id'>;

/** Enough for any index of a step. */
const INDEX_DIGITS = 16;

/** Sort key: step, then columns. */
const sortKeyOf = (columns: readonly GroupColumn[], row: UsageSum<GroupColumn>): string =>
  [String(row.at).padStart(INDEX_DIGITS), ...columns.map((name) => row[name])].join('\0');

/** Sums of some keys by step, key and the given columns, in this order. @param steps - null: of the whole axis. */
async function readKeys<Name extends GroupColumn>(
  usage: UsageReader,
  query: UsageQuery,
  columns: readonly Name[],
  steps: Axis | null,
): Promise<Exported<Name>[]> {
  const sums = new Map<string, Exported<Name>>();
  const groupBy = ['key_id', ...columns] as const;
  const add = (row: Exported<Name>): void => {
    const sortKey = sortKeyOf(groupBy, row as UsageSum<GroupColumn>);
    const sum = sums.get(sortKey);
    if (sum === undefined) sums.set(sortKey, { ...row });
    else for (const name of counterColumns) sum[name] += row[name];
  };
  await usage.readSums(query, groupBy, add, steps);
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum);
}

/** Yields sums over a whole axis by key and the given columns, page by page, to bound memory use. */
export async function* exportSums<Name extends GroupColumn>(
  store: Store,
  usage: UsageReader,
  { axis, filter }: UsageQuery,
  columns: readonly Name[],
): AsyncGenerator<Exported<Name>[]> {
  for await (const keys of keyPages(store, axis, filter, true))
    yield readKeys(usage, { axis, filter: { ...filter, keys } }, columns, null);
}

type ExportedUsage = Omit<Exported<'product' | 'method' | 'status'>, 'at' | 'last_minute'> &
  Readonly<{
    /** Number of steps since 1970. */
    bucket: number;
  }>;

const exportColumns = ['product', 'method', 'status'] as const;

/** Steps in one part of an export, if few keys were used in them. */
const STEPS_AT_ONCE = 24;

/** Yields all rows of an axis page by page, to bound memory use. The steps of a part with many keys are read one by one. */
export async function* exportUsage(
  store: Store,
  usage: UsageReader,
  { axis, filter }: UsageQuery,
  stepsAtOnce = STEPS_AT_ONCE,
): AsyncGenerator<ExportedUsage[]> {
  for (let from = axis.from; from < axis.to; from += stepsAtOnce) {
    const part = { ...axis, from, to: Math.min(axis.to, from + stepsAtOnce) };
    for await (const keys of keyPages(store, part, filter, false)) {
      if (keys.length >= PAGE_KEYS && stepsAtOnce > 1) {
        yield* exportUsage(store, usage, { axis: part, filter }, 1);
        break;
      }
      const rows = await readKeys(usage, { axis: part, filter: { ...filter, keys } }, exportColumns, part);
      yield rows.map(({ at, last_minute: _, ...row }) => ({ bucket: from + at, ...row }));
    }
  }
}

import { type Kysely, type RawBuilder, sql } from 'kysely';
import { BUCKET_COUNT, bucketEnd, quantile } from '../../base/histogram.ts';
import type { UsageStatus } from '../../gateway/metering/usage-status.ts';
import type { Network } from '../../protocol/call.ts';
import type { Product } from '../../protocol/product.ts';
import type { LatencyJson } from '../api/contract/usage.ts';
import { selectRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import {
  type MarkKind,
  totalTables,
  type UsageCounters,
  type UsageLabels,
  type UsageStep,
  usageSteps,
} from '../database/tables/usage.ts';
import { retentionStarts, stepOfKind } from './usage-rows.ts';
import { counterSums } from './usage-sums.ts';

export const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const satisfies Record<
  UsageStep,
  number
>;

/** A time range [from, to) of equal steps; `from` and `to` count steps since the Unix epoch. */
export type Axis = Readonly<{ step: UsageStep; from: number; to: number }>;

export const axisOver = (step: UsageStep, fromMs: number, toMs: number): Axis => ({
  step,
  from: Math.floor(fromMs / stepMs[step]),
  to: Math.ceil(toMs / stepMs[step]),
});

export const lengthOf = ({ from, to }: Axis): number => to - from;

/** The axis of the same length that ends where this axis starts. */
export const previousAxis = (axis: Axis): Axis => ({
  ...axis,
  from: axis.from - lengthOf(axis),
  to: axis.from,
});

export const zeros = (axis: Axis): number[] => Array<number>(lengthOf(axis)).fill(0);

/** The calendar month (UTC) that contains `atMs`, in Unix milliseconds; `to` is exclusive. */
export function monthRange(atMs: number): Readonly<{ from: number; to: number }> {
  const date = new Date(atMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}

type RowKind = 'total' | 'detail' | 'clickhouse';

/** A part of an axis and its source: rolled-up rows of a step or, if `isRaw`, minute rows of individual processes. */
export type Segment = Readonly<{ step: UsageStep; isRaw: boolean; from: number; to: number }>;

/** Marks of these kinds make their bucket stale, and also each coarser bucket that contains it. */
const staleKinds: Readonly<Record<RowKind, readonly MarkKind[]>> = {
  total: ['minute', 'total_hour', 'total_day'],
  detail: ['hour', 'day'],
  clickhouse: ['clickhouse_hour', 'clickhouse_day'],
};

const finerStepsPer: Readonly<Record<UsageStep, number>> = { minute: 1, hour: 60, day: 24 };

type StaleBuckets = Readonly<Record<UsageStep, ReadonlySet<number>>>;

async function staleBuckets(db: Kysely<Schema>, rowKind: RowKind, axis: Axis): Promise<StaleBuckets> {
  const stale = { minute: new Set<number>(), hour: new Set<number>(), day: new Set<number>() };
  for (const kind of staleKinds[rowKind]) {
    const step = stepOfKind[kind];
    const rows = await db
      .selectFrom('usage_mark')
      .select('bucket')
      .distinct()
      .where('kind', '=', kind)
      .where('bucket', '>=', Math.floor((axis.from * stepMs[axis.step]) / stepMs[step]))
      .where('bucket', '<', Math.ceil((axis.to * stepMs[axis.step]) / stepMs[step]))
      .execute();
    for (const { bucket } of rows) {
      for (const coarser of usageSteps.slice(usageSteps.indexOf(step))) {
        stale[coarser].add(Math.floor((bucket * stepMs[step]) / stepMs[coarser]));
      }
    }
  }
  return stale;
}

/** Splits an axis into segments: rolled-up rows where they are current, finer rows where newer data exists. */
export async function segmentsOf(db: Kysely<Schema>, rowKind: RowKind, axis: Axis): Promise<Segment[]> {
  const [stale, starts] = [await staleBuckets(db, rowKind, axis), await retentionStarts(db)];
  const segments: Segment[] = [];
  const add = (step: UsageStep, isRaw: boolean, bucket: number): void => {
    const last = segments.at(-1);
    if (last?.step === step && last.isRaw === isRaw && last.to === bucket) {
      segments[segments.length - 1] = { ...last, to: bucket + 1 };
    } else {
      segments.push({ step, isRaw, from: bucket, to: bucket + 1 });
    }
  };
  const cover = (step: UsageStep, bucket: number): void => {
    const finer = usageSteps[usageSteps.indexOf(step) - 1];
    const isExpired = finer !== undefined && bucket * finerStepsPer[step] < starts[finer];
    const isRolledUp = isExpired || !stale[step].has(bucket);
    if (step === 'minute') add(step, rowKind !== 'total' || !isRolledUp, bucket);
    else if (isRolledUp || finer === undefined) add(step, false, bucket);
    else
      for (let index = 0; index < finerStepsPer[step]; index++)
        cover(finer, bucket * finerStepsPer[step] + index);
  };
  for (let bucket = axis.from; bucket < axis.to; bucket++) cover(axis.step, bucket);
  return segments;
}

/** SQL of the rows of a segment of totals: table and conditions, without the customer. */
export const totalRowsOf = ({ step, isRaw, from, to }: Segment) =>
  isRaw
    ? sql`usage_minute where minute >= ${from} and minute < ${to}`
    : sql`usage_total where step = ${step} and bucket >= ${from} and bucket < ${to}`;

export type UsageFilter = Readonly<{
  /** null: all customers, for operators only. */
  customerId: string | null;
  /** Ids of keys, which must belong to the customer. */
  keys?: readonly string[] | undefined;
  product?: Product | undefined;
  method?: string | undefined;
  network?: Network | undefined;
  code?: string | undefined;
  planId?: string | undefined;
  /** Only calls whose status is not `ok`. */
  failed?: boolean | undefined;
  /** Only usage whose details are in the database. */
  hasDetails?: boolean | undefined;
}>;

export type UsageQuery = Readonly<{ axis: Axis; filter: UsageFilter }>;

export type Dimensions = UsageLabels & {
  customer_id: string;
  key_id: string;
  plan_id: string;
  /** Id of the process run. */
  epoch: string;
  product: Product;
  method: string;
};

export type GroupColumn = keyof Dimensions;

export type UsageSum<Name extends GroupColumn> = Omit<UsageCounters, 'latency'> & {
  /** Index of the step in the axis. */
  at: number;
  /** The last Unix minute with any usage, to the precision of the step. */
  last_minute: number;
} & Pick<Dimensions, Name>;

/** Maximum buckets per query: few, because other statements wait for it. */
export const BUCKETS_AT_ONCE = 60;

type Table = (typeof totalTables)[number] | 'usage_hour' | 'usage_day' | 'usage_minute';

type TableKind = 'fleet' | 'total' | 'method' | 'detail';

/** Columns of the roll-ups, smaller tables first. */
const columnsOfKind: Readonly<Record<TableKind, readonly GroupColumn[]>> = {
  fleet: ['epoch', 'product', 'method', 'status', 'network', 'code'],
  total: ['customer_id', 'plan_id', 'product', 'status'],
  method: ['customer_id', 'method', 'product', 'status', 'network', 'code'],
  detail: ['customer_id', 'key_id', 'product', 'method', 'status', 'network', 'code'],
};

/** Chooses the smallest table with all columns needed for grouping and filtering. */
function tableKindOf(filter: UsageFilter, groupBy: readonly GroupColumn[]): TableKind {
  const needed = new Set<GroupColumn>(groupBy);
  if (filter.customerId !== null) needed.add('customer_id');
  if (filter.keys !== undefined) needed.add('key_id');
  if (filter.planId !== undefined) needed.add('plan_id');
  if (filter.network !== undefined) needed.add('network');
  if (filter.code !== undefined) needed.add('code');
  if (filter.method !== undefined || filter.hasDetails === true) needed.add('method');
  const kinds = Object.keys(columnsOfKind) as TableKind[];
  const kind = kinds.find((one) => [...needed].every((column) => columnsOfKind[one].includes(column)));
  if (kind === undefined) throw new Error(`no usage table has the columns ${[...needed].join(', ')}`);
  return kind;
}

function tableOf(kind: TableKind, { step, isRaw }: Segment): Table {
  if (isRaw) return 'usage_minute';
  if (kind !== 'detail') return `usage_${kind}`;
  return step === 'hour' ? 'usage_hour' : 'usage_day';
}

const isTotal = (table: Table): boolean => (totalTables as readonly string[]).includes(table);

type Part = Readonly<{
  table: Table;
  segment: Segment;
  column: RawBuilder<number>;
  where: RawBuilder<boolean>;
}>;

/** Days whose rows the indexes of usage_day have in the order of keys. */
const DAYS_PER_BLOCK = 32;

/** Whether these indexes suit a query. Otherwise, the primary key has the columns of the filter. */
const usesBlocks = (
  table: Table,
  { customerId, keys, product, method, network, code }: UsageFilter,
): boolean =>
  table === 'usage_day' &&
  (customerId !== null || keys !== undefined || (product ?? method ?? network ?? code) === undefined);

function partOf(table: Table, segment: Segment, filter: UsageFilter): Part {
  const name = isTotal(table) ? 'bucket' : segment.step;
  const column = sql.ref<number>(name);
  const conditions: RawBuilder<boolean>[] = [
    sql`${column} >= ${segment.from}`,
    sql`${column} < ${segment.to}`,
  ];
  // A literal, because a parameter would not match the expression of the indexes.
  if (usesBlocks(table, filter))
    conditions.push(sql`day / ${sql.lit(DAYS_PER_BLOCK)} = ${Math.floor(segment.from / DAYS_PER_BLOCK)}`);
  // For a large customer, the index by key selects fewer rows than the index by customer.
  if (filter.keys !== undefined) conditions.push(sql`key_id in (${sql.join([...filter.keys])})`);
  else if (filter.customerId !== null) conditions.push(sql`customer_id = ${filter.customerId}`);
  if (isTotal(table)) conditions.push(sql`step = ${segment.step}`);
  if (filter.product !== undefined) conditions.push(sql`product = ${filter.product}`);
  if (filter.method !== undefined) conditions.push(sql`method = ${filter.method}`);
  if (filter.network !== undefined) conditions.push(sql`network = ${filter.network}`);
  if (filter.code !== undefined) conditions.push(sql`code = ${filter.code}`);
  if (filter.planId !== undefined) conditions.push(sql`plan_id = ${filter.planId}`);
  if (filter.failed === true) conditions.push(sql`status <> 'ok'`);
  if (filter.hasDetails === true) conditions.push(sql`method <> ''`);
  return { table, segment, column, where: sql.join<boolean>(conditions, sql` and `) };
}

/** Splits an axis into axes of the coarsest steps that fit, so that a long range is summed from few rows. */
function coarsestAxes(axis: Axis): Axis[] {
  const coarser = usageSteps[usageSteps.indexOf(axis.step) + 1];
  if (coarser === undefined) return [axis];
  const per = finerStepsPer[coarser];
  const middle = { step: coarser, from: Math.ceil(axis.from / per), to: Math.floor(axis.to / per) };
  if (lengthOf(middle) <= 0) return [axis];
  const [start, end] = [
    { ...axis, to: middle.from * per },
    { ...axis, from: middle.to * per },
  ];
  return [start, ...coarsestAxes(middle), end].filter((part) => lengthOf(part) > 0);
}

/** Like `segmentsOf`. @param isWhole - whether the caller needs only sums over the whole axis, from coarser steps. */
export async function segmentsFor(
  db: Kysely<Schema>,
  rowKind: RowKind,
  axis: Axis,
  isWhole: boolean,
): Promise<Segment[]> {
  const segments: Segment[] = [];
  for (const part of isWhole ? coarsestAxes(axis) : [axis])
    segments.push(...(await segmentsOf(db, rowKind, part)));
  return segments;
}

/** Parts of the tables that a query reads. @param isWhole - see `segmentsFor`. */
export async function partsOf(
  { db }: Store,
  { axis, filter }: UsageQuery,
  groupBy: readonly GroupColumn[],
  isWhole: boolean,
): Promise<Part[]> {
  const kind = tableKindOf(filter, groupBy);
  const segments = await segmentsFor(db, kind === 'detail' ? 'detail' : 'total', axis, isWhole);
  return segments.flatMap((segment) => {
    const parts: Part[] = [];
    const table = tableOf(kind, segment);
    for (let from = segment.from; from < segment.to; ) {
      const length = table === 'usage_day' ? DAYS_PER_BLOCK - (from % DAYS_PER_BLOCK) : BUCKETS_AT_ONCE;
      const to = Math.min(segment.to, from + length);
      parts.push(partOf(table, { ...segment, from, to }, filter));
      from = to;
    }
    return parts;
  });
}

/** @param axis - null: treats the whole axis as one step. */
const stepIndexIn = (axis: Axis | null, { segment, column }: Part): RawBuilder<number> => {
  if (axis === null) return sql`0`;
  const factor = stepMs[axis.step] / stepMs[segment.step];
  return factor === 1
    ? sql`${column} - ${sql.lit(axis.from)}`
    : sql`${column} / ${sql.lit(factor)} - ${sql.lit(axis.from)}`;
};

const lastMinuteOf = ({ table, segment }: Part): RawBuilder<number> => {
  if (table === 'usage_minute') return sql`minute`;
  if (!isTotal(table)) return sql`last_minute`;
  return sql`bucket * ${sql.lit(stepMs[segment.step] / stepMs.minute)}`;
};

/** Groups by position, because a column could shadow an alias. */
async function readPart<Name extends GroupColumn>(
  { db }: Store,
  axis: Axis | null,
  part: Part,
  groupBy: readonly Name[],
): Promise<UsageSum<Name>[]> {
  const columns = groupBy.map((name) => sql.ref(name));
  const groups = sql.raw(Array.from({ length: groupBy.length + 1 }, (_, index) => index + 1).join(', '));
  const { rows } = await sql<
    UsageSum<Name>
  >`select ${sql.join([sql`${stepIndexIn(axis, part)} as at`, ...columns])},
    ${counterSums}, max(${lastMinuteOf(part)}) as last_minute
    from ${sql.table(part.table)} where ${part.where} group by ${groups}`.execute(db);
  return rows;
}

export type OnSum<Name extends GroupColumn> = (row: UsageSum<Name>) => void;

/**
 * Reports sums by step and columns. The caller must add them up: a combination may be reported several times, because
 * data since the last roll-up is read from finer rows.
 * @param steps - null: sums the whole axis, with `at` 0.
 */
export async function readSums<Name extends GroupColumn>(
  store: Store,
  query: UsageQuery,
  groupBy: readonly Name[],
  onRow: OnSum<Name>,
  steps: Axis | null = query.axis,
): Promise<void> {
  const parts = await partsOf(store, query, groupBy, steps === null);
  for (const part of parts) {
    for (const row of await readPart(store, steps, part, groupBy)) onRow(row);
  }
}

export const readWholeSums = <Name extends GroupColumn>(
  store: Store,
  query: UsageQuery,
  groupBy: readonly Name[],
  onRow: OnSum<Name>,
): Promise<void> => readSums(store, query, groupBy, onRow, null);

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

/** Upper bound of a bucket in milliseconds; for the last bucket, which has none, its lower bound. */
const bucketEndMs = (bucket: number): number => bucketEnd(Math.min(bucket, BUCKET_COUNT - 2)) / 1_000;

/** Percentile in milliseconds; from 64 µs to 33.6 s, at most 25 % too high. @param fraction - from 0 to 1. */
export function percentile(counts: ArrayLike<number>, fraction: number): number | null {
  const micros = quantile(counts, fraction);
  return micros === null ? null : Math.min(micros / 1_000, bucketEndMs(BUCKET_COUNT - 1));
}

function maximum(counts: ArrayLike<number>): number | null {
  for (let bucket = BUCKET_COUNT - 1; bucket >= 0; bucket--) {
    if ((counts[bucket] ?? 0) > 0) return bucketEndMs(bucket);
  }
  return null;
}

export const percentilesOf = (counts: ArrayLike<number>): LatencyJson => ({
  p50: percentile(counts, 0.5),
  p95: percentile(counts, 0.95),
  p99: percentile(counts, 0.99),
  max: maximum(counts),
});

/** The first heat map row ends at 2^6 microseconds. */
const FIRST_BOUND_LOG2 = 6;

/** Histogram buckets per heat map row. Each row spans one power of two. */
const BUCKETS_PER_ROW = 4;

/** Upper bounds of heat map rows; the last row is unbounded. */
export const heatBoundsMs: readonly number[] = Array.from(
  { length: Math.ceil((BUCKET_COUNT - 2) / BUCKETS_PER_ROW) + 2 },
  (_, row) => 2 ** (FIRST_BOUND_LOG2 + row) / 1_000,
);

export const heatRowOf = (bucket: number): number =>
  bucket === 0 ? 0 : Math.min(heatBoundsMs.length - 1, 1 + Math.floor((bucket - 1) / BUCKETS_PER_ROW));

/** Time of the last usage write by any gateway; `nowMs` if there is none. */
export async function usageUpdatedAt({ db }: Store, nowMs: number): Promise<number> {
  const row = await db
    .selectFrom('usage_epoch')
    .select((select) => select.fn.max<number | null>('written_at').as('at'))
    .executeTakeFirst();
  return row?.at ?? nowMs;
}

/** Whether any call of the customer has succeeded within the retention of daily totals. */
export async function hasSucceeded({ db }: Store, customerId: string): Promise<boolean> {
  // usage_minute also holds usage that is not rolled up yet.
  for (const table of ['usage_total', 'usage_minute'] as const) {
    const query = selectRows(db, table, { customer_id: customerId, status: 'ok' });
    if ((await query.where('requests', '>', 0).limit(1).executeTakeFirst()) !== undefined) return true;
  }
  return false;
}

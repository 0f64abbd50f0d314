import { setImmediate } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { BUCKET_COUNT, bucketEnd, quantile } from '../../base/histogram.ts';
import type { UsageStatus } from '../../gateway/metering/usage-meter.ts';
import type { Product } from '../../protocol/product.ts';
import type { Store } from '../database/open.ts';
import type { Schema } from '../database/schema.ts';
import {
  type DirtyBucketKind,
  type UsageCounters,
  type UsageStep,
  usageSteps,
} from '../database/tables/usage.ts';

/** How long each step is, in milliseconds. */
export const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const satisfies Record<
  UsageStep,
  number
>;

/** Equal steps of time from `from` to before `to`, both counted in steps since 1970 (UTC). */
export type Axis = Readonly<{ step: UsageStep; from: number; to: number }>;

/** The axis of all steps that lie in a stretch of time, wholly or in part. Unix milliseconds. */
export const axisOver = (step: UsageStep, fromMs: number, toMs: number): Axis => ({
  step,
  from: Math.floor(fromMs / stepMs[step]),
  to: Math.ceil(toMs / stepMs[step]),
});

/** How many steps there are. */
export const lengthOf = ({ from, to }: Axis): number => to - from;

/** The axis of the same length that ends where this one begins. */
export const before = (axis: Axis): Axis => ({ ...axis, from: axis.from - lengthOf(axis), to: axis.from });

/** A series of nothing. */
export const zeros = (axis: Axis): number[] => Array<number>(lengthOf(axis)).fill(0);

/** The calendar month (UTC) that a moment lies in, in Unix milliseconds; it ends before `to`. */
export function monthOf(atMs: number): Readonly<{ from: number; to: number }> {
  const date = new Date(atMs);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1) };
}

/** What is read from: totals by customer (of all methods, or by method), or rows by key. */
type Family = 'total' | 'detail';

/**
 * A part of an axis and where to read it: in the rolled-up rows of a step, or (`raw`) in the minutes of single
 * processes, of which everything follows. Buckets are counted in `step`.
 */
export type Segment = Readonly<{ step: UsageStep; isRaw: boolean; from: number; to: number }>;

/** What makes a bucket of a step stale: marks of it, or of what it is made of. */
const stale: Readonly<Record<Family, readonly Readonly<{ kind: DirtyBucketKind; step: UsageStep }>[]>> = {
  total: [
    { kind: 'minute', step: 'minute' },
    { kind: 'total_hour', step: 'hour' },
    { kind: 'total_day', step: 'day' },
  ],
  detail: [
    { kind: 'hour', step: 'hour' },
    { kind: 'day', step: 'day' },
  ],
};

const per: Readonly<Record<UsageStep, number>> = { minute: 1, hour: 60, day: 24 };

/** The first bucket of each step that is still kept. */
export async function retentionStarts(db: Kysely<Schema>): Promise<Readonly<Record<UsageStep, number>>> {
  const rows = await db.selectFrom('usage_horizon').selectAll().execute();
  const of = (step: UsageStep) => rows.find((row) => row.step === step)?.bucket ?? 0;
  return { minute: of('minute'), hour: of('hour'), day: of('day') };
}

type StaleBuckets = Readonly<Record<UsageStep, ReadonlySet<number>>>;

async function staleBuckets(db: Kysely<Schema>, family: Family, axis: Axis): Promise<StaleBuckets> {
  const sets = { minute: new Set<number>(), hour: new Set<number>(), day: new Set<number>() };
  for (const { kind, step } of stale[family]) {
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
        sets[coarser].add(Math.floor((bucket * stepMs[step]) / stepMs[coarser]));
      }
    }
  }
  return sets;
}

/**
 * Where to read an axis so that nothing is missing: from the rolled-up rows of its own step where they are made, from
 * finer ones where something came since.
 */
export async function segmentsOf(db: Kysely<Schema>, family: Family, axis: Axis): Promise<Segment[]> {
  const [sets, starts] = [await staleBuckets(db, family, axis), await retentionStarts(db)];
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
    const isExpired = finer !== undefined && bucket * per[step] < starts[finer];
    const isRolledUp = isExpired || !sets[step].has(bucket);
    if (step === 'minute') add(step, family === 'detail' || !isRolledUp, bucket);
    else if (isRolledUp || finer === undefined) add(step, false, bucket);
    else for (let part = 0; part < per[step]; part++) cover(finer, bucket * per[step] + part);
  };
  for (let bucket = axis.from; bucket < axis.to; bucket++) cover(axis.step, bucket);
  return segments;
}

/** Whose usage, and which of it. */
export type UsageFilter = Readonly<{
  customerId: string;
  /** Of these keys: they must be the customer's. */
  keys?: readonly string[] | undefined;
  product?: Product | undefined;
  method?: string | undefined;
  planId?: string | undefined;
  /** Only what gave no result. */
  failed?: boolean | undefined;
}>;

/** Things by which usage can be told apart. */
export type UsageName = 'key_id' | 'plan_id' | 'product' | 'method' | 'status';

/** Sums of a step and of the names that were asked for. */
export type UsageSum<Name extends UsageName> = Omit<UsageCounters, 'latency'> & {
  /** Steps from the start of the axis. */
  at: number;
  /** The last Unix minute in which any of it was counted, as near as the step tells. */
  last_minute: number;
} & Pick<{ key_id: string; plan_id: string; product: Product; method: string; status: UsageStatus }, Name>;

/** Buckets that one query reads: an embedded store blocks for as long as it takes. */
const BUCKETS_AT_ONCE = 60;

type Table = 'usage_total' | 'usage_method' | 'usage_hour' | 'usage_day' | 'usage_minute';

/** Which rows are enough to tell the names apart and to filter: the fewer, the faster. */
function tableKindOf(filter: UsageFilter, names: readonly UsageName[]): 'total' | 'method' | 'detail' {
  if (filter.keys !== undefined || names.includes('key_id')) return 'detail';
  return filter.method !== undefined || names.includes('method') ? 'method' : 'total';
}

function tableOf(kind: ReturnType<typeof tableKindOf>, { step, isRaw }: Segment): Table {
  if (isRaw) return 'usage_minute';
  if (kind !== 'detail') return `usage_${kind}`;
  return step === 'hour' ? 'usage_hour' : 'usage_day';
}

/** Columns of their own name for the bucket, or `bucket` and `step`. */
const isTotal = (table: Table): boolean => table === 'usage_total' || table === 'usage_method';

type Part = Readonly<{
  table: Table;
  segment: Segment;
  column: RawBuilder<number>;
  where: RawBuilder<boolean>;
}>;

function partOf(table: Table, segment: Segment, filter: UsageFilter): Part {
  const name = isTotal(table) ? 'bucket' : segment.step;
  const column = sql.ref<number>(name);
  const conditions: RawBuilder<boolean>[] = [
    // A key's rows are the customer's, and an index leads to them: the customer's own may have very many.
    filter.keys === undefined
      ? sql`customer_id = ${filter.customerId}`
      : sql`key_id in (${sql.join([...filter.keys])})`,
    sql`${column} >= ${segment.from}`,
    sql`${column} < ${segment.to}`,
  ];
  if (isTotal(table)) conditions.push(sql`step = ${segment.step}`);
  if (filter.product !== undefined) conditions.push(sql`product = ${filter.product}`);
  if (filter.method !== undefined) conditions.push(sql`method = ${filter.method}`);
  if (filter.planId !== undefined) conditions.push(sql`plan_id = ${filter.planId}`);
  if (filter.failed === true) conditions.push(sql`status <> 'ok'`);
  return { table, segment, column, where: sql.join(conditions, sql` and `) };
}

/** Where an axis is to be read, in parts that are quick to read each. */
async function partsOf(
  { db }: Store,
  axis: Axis,
  filter: UsageFilter,
  names: readonly UsageName[],
): Promise<Part[]> {
  const kind = tableKindOf(filter, names);
  const segments = await segmentsOf(db, kind === 'detail' ? 'detail' : 'total', axis);
  return segments.flatMap((segment) => {
    const parts: Part[] = [];
    for (let from = segment.from; from < segment.to; from += BUCKETS_AT_ONCE) {
      const to = Math.min(segment.to, from + BUCKETS_AT_ONCE);
      parts.push(partOf(tableOf(kind, segment), { ...segment, from, to }, filter));
    }
    return parts;
  });
}

/** Steps from the start of the axis, from a bucket of the part. @param axis - null: all of it is one. */
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

const sumOf = (column: string) => sql.raw(`cast(sum(${column}) as bigint) as ${column}`);

/** The rows of a part, each step and the names for themselves. Aliases are positions, which no column can shadow. */
async function readPart<Name extends UsageName>(
  { db }: Store,
  axis: Axis | null,
  part: Part,
  names: readonly Name[],
): Promise<UsageSum<Name>[]> {
  const columns = names.map((name) => sql.ref(name));
  const groups = sql.raw(Array.from({ length: names.length + 1 }, (_, index) => index + 1).join(', '));
  const { rows } = await sql<
    UsageSum<Name>
  >`select ${sql.join([sql`${stepIndexIn(axis, part)} as at`, ...columns])},
    ${sumOf('requests')}, ${sumOf('bytes_in')}, ${sumOf('bytes_out')}, ${sumOf('credits')}, ${sumOf('messages')},
    max(${lastMinuteOf(part)}) as last_minute
    from ${sql.table(part.table)} where ${part.where} group by ${groups}`.execute(db);
  return rows;
}

/** @param steps - in which the sums are parted; null: one for the whole axis, at 0. */
async function* sumsIn<Name extends UsageName>(
  store: Store,
  axis: Axis,
  filter: UsageFilter,
  names: readonly Name[],
  steps: Axis | null,
): AsyncGenerator<UsageSum<Name>[]> {
  for (const part of await partsOf(store, axis, filter, names)) {
    yield await readPart(store, steps, part, names);
    await setImmediate();
  }
}

/**
 * Sums of an axis by step and names, some at a time. A step and its names may come more than once: what came since the
 * last roll-up is read from finer rows.
 */
export const sumsOf = <Name extends UsageName>(
  store: Store,
  axis: Axis,
  filter: UsageFilter,
  names: readonly Name[],
): AsyncGenerator<UsageSum<Name>[]> => sumsIn(store, axis, filter, names, axis);

/** As `sumsOf`, of the whole axis: `at` is always 0. */
export const wholeSumsOf = <Name extends UsageName>(
  store: Store,
  axis: Axis,
  filter: UsageFilter,
  names: readonly Name[],
): AsyncGenerator<UsageSum<Name>[]> => sumsIn(store, axis, filter, names, null);

/** A histogram of latencies, of one row of those that the store has. */
type LatencyRow = Readonly<{ at: number; method: string; product: Product; latency: string }>;

/** Statuses of calls that a node answered: what was refused before says nothing of how long calls take. */
const ANSWERED: readonly UsageStatus[] = ['ok', 'rpcError'];

/** Histograms of the calls that were answered, some at a time. @param byMethod - else `method` is empty. */
export async function* latenciesOf(
  store: Store,
  axis: Axis,
  filter: UsageFilter,
  byMethod: boolean,
): AsyncGenerator<LatencyRow[]> {
  for (const part of await partsOf(store, axis, filter, byMethod ? ['method'] : [])) {
    const method = byMethod ? sql.ref('method') : sql`''`;
    const { rows } =
      await sql<LatencyRow>`select ${stepIndexIn(axis, part)} as at, ${method} as method, product, latency
      from ${sql.table(part.table)} where ${part.where} and status in (${sql.join([...ANSWERED])})
      and latency <> ''`.execute(store.db);
    yield rows;
    await setImmediate();
  }
}

/** Milliseconds; null where nothing was measured. */
type Percentiles = Readonly<{
  p50: number | null;
  p95: number | null;
  p99: number | null;
  max: number | null;
}>;

/** The upper end of a bucket in milliseconds; the last one has none, so it tells its lower one: at least as much. */
const endMs = (bucket: number): number => bucketEnd(Math.min(bucket, BUCKET_COUNT - 2)) / 1_000;

/** Where a share of the calls lies, in milliseconds, at most 25 % above the truth. @param share - 0 to 1. */
export function percentile(counts: ArrayLike<number>, share: number): number | null {
  const micros = quantile(counts, share);
  return micros === null ? null : Math.min(micros / 1_000, endMs(BUCKET_COUNT - 1));
}

function maximum(counts: ArrayLike<number>): number | null {
  for (let bucket = BUCKET_COUNT - 1; bucket >= 0; bucket--) {
    if ((counts[bucket] ?? 0) > 0) return endMs(bucket);
  }
  return null;
}

/** What charts show of a histogram. */
export const percentilesOf = (counts: ArrayLike<number>): Percentiles => ({
  p50: percentile(counts, 0.5),
  p95: percentile(counts, 0.95),
  p99: percentile(counts, 0.99),
  max: maximum(counts),
});

/** Buckets of the histogram that one row of a heat map joins: one power of two. */
const BUCKETS_PER_ROW = 4;

/** Upper ends of the rows of a heat map, in milliseconds, ascending; the last row has all that took longer. */
export const heatBoundsMs: readonly number[] = Array.from(
  { length: Math.ceil((BUCKET_COUNT - 2) / BUCKETS_PER_ROW) + 2 },
  (_, row) => 2 ** (6 + row) / 1_000,
);

/** The row of a heat map that a bucket of the histogram belongs to. */
export const heatRowOf = (bucket: number): number =>
  bucket === 0 ? 0 : Math.min(heatBoundsMs.length - 1, 1 + Math.floor((bucket - 1) / BUCKETS_PER_ROW));

/** When any gateway wrote usage last, in Unix milliseconds; `nowMs` when none ever did. */
export async function usageUpdatedAt({ db }: Store, nowMs: number): Promise<number> {
  const row = await db
    .selectFrom('usage_epoch')
    .select((select) => select.fn.max<number | null>('written_at').as('at'))
    .executeTakeFirst();
  return row?.at ?? nowMs;
}

/** Whether any key of a customer ever had a call that gave a result, as long as days are kept. */
export async function hasSucceeded({ db }: Store, customerId: string): Promise<boolean> {
  const total = await db
    .selectFrom('usage_total')
    .select('customer_id')
    .where('customer_id', '=', customerId)
    .where('status', '=', 'ok')
    .where('requests', '>', 0)
    .limit(1)
    .executeTakeFirst();
  if (total !== undefined) return true;
  // What came since the last roll-up.
  const minute = await db
    .selectFrom('usage_minute')
    .select('minute')
    .where('customer_id', '=', customerId)
    .where('status', '=', 'ok')
    .where('requests', '>', 0)
    .limit(1)
    .executeTakeFirst();
  return minute !== undefined;
}

import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { UsageStatus } from '../../../gateway/metering/usage-meter.ts';
import type { Product } from '../../../protocol/product.ts';
import type { Store } from '../../database/open.ts';
import type { UsageCounters } from '../../database/tables/usage.ts';
import { type Axis, stepMs } from './axis.ts';
import { type Segment, segmentsOf } from './segments.ts';

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
export type LatencyRow = Readonly<{ at: number; method: string; product: Product; latency: string }>;

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

import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { UsageStatus } from '../../../gateway/metering/usage-meter.ts';
import type { Product } from '../../../protocol/product.ts';

/**
 * Roll-ups of usage and their bookkeeping. Each row is derived from the next finer table: usage_minute →
 * usage_hour → usage_day by key and method; usage_minute → usage_total and usage_method by minute, hour and
 * day.
 */
export interface UsageTables {
  usage_hour: UsageDetailTable & Readonly<{ hour: number }>;
  usage_day: UsageDetailTable & Readonly<{ day: number }>;
  usage_total: UsageTotalTable;
  usage_method: UsageMethodTable;
  usage_mark: UsageMarkTable;
  usage_horizon: UsageHorizonTable;
  usage_epoch: UsageEpochTable;
  usage_claim: UsageClaimTable;
  usage_check: UsageCheckTable;
  usage_seen: UsageSeenTable;
}

export interface UsageCounters {
  requests: number;
  bytes_in: number;
  bytes_out: number;
  credits: number;
  messages: number;
  /** As in usage_minute. */
  latency: string;
}

/** Sums over processes. Hours and days are counted from 1970 (UTC), like minutes. */
export interface UsageDetailTable extends UsageCounters {
  /** Empty for unknown keys; the built-in customer for calls without a key. */
  customer_id: string;
  key_id: string;
  product: Product;
  method: string;
  status: UsageStatus;
  /** The last minute with usage. */
  last_minute: number;
}

export const usageSteps = ['minute', 'hour', 'day'] as const;
export type UsageStep = (typeof usageSteps)[number];

/** Totals over methods and keys, for summaries and quotas. */
export interface UsageTotalTable extends UsageCounters {
  step: UsageStep;
  /** Unix minutes, hours or days. */
  bucket: number;
  customer_id: string;
  /** Plan of the keys at the time of the call. */
  plan_id: string;
  product: Product;
  status: UsageStatus;
}

/** Totals over keys, by method. */
export interface UsageMethodTable extends UsageCounters {
  step: UsageStep;
  bucket: number;
  customer_id: string;
  product: Product;
  method: string;
  status: UsageStatus;
}

/** What a mark invalidates: totals of a minute, hour or day, or the rows by key of an hour or day. */
export const dirtyBucketKinds = ['minute', 'total_hour', 'total_day', 'hour', 'day'] as const;
export type DirtyBucketKind = (typeof dirtyBucketKinds)[number];

/**
 * Marks a bucket whose sources changed. Written in the transaction of the change, deleted by the roll-up if
 * unchanged.
 */
export interface UsageMarkTable {
  kind: DirtyBucketKind;
  bucket: number;
  /**
   * Writer of the change; empty for a roll-up. Writers have separate marks, so that none waits for another.
   */
  epoch: string;
  /** Random for each change. */
  token: number;
}

/** First retained bucket; earlier usage is deleted and no longer accepted. */
export interface UsageHorizonTable {
  step: UsageStep;
  bucket: number;
}

/** Process runs that wrote usage. */
export interface UsageEpochTable {
  epoch: string;
  /** Unix milliseconds. */
  written_at: number;
}

/** Leases for work that one of several gateways does. */
export interface UsageClaimTable {
  name: string;
  holder: string;
  /** Unix milliseconds. */
  until: number;
}

/** Latest results of the consistency checks. */
export interface UsageCheckTable {
  name: string;
  ran_at: number;
  violations: number;
  example: string | null;
}

/** High-water marks of an hour's minutes, to detect decreases. */
export interface UsageSeenTable {
  hour: number;
  epoch: string;
  requests: number;
  messages: number;
  credits: number;
}

type ColumnTypes = Readonly<Record<string, 'text' | 'bigint'>>;

const counters: ColumnTypes = {
  requests: 'bigint',
  bytes_in: 'bigint',
  bytes_out: 'bigint',
  credits: 'bigint',
  messages: 'bigint',
  latency: 'text',
};

async function createTable(
  db: Kysely<unknown>,
  name: string,
  columns: ColumnTypes,
  key: readonly string[],
): Promise<void> {
  let table: CreateTableBuilder<string, string> = db.schema.createTable(name);
  for (const [column, type] of Object.entries(columns)) {
    table = table.addColumn(column, type, (builder) => builder.notNull());
  }
  await table.addPrimaryKeyConstraint(`${name}_row`, key as string[]).execute();
}

/** Hours and days by key, with indexes by customer, key and age. */
async function createDetails(db: Kysely<unknown>): Promise<void> {
  for (const step of ['hour', 'day'] as const) {
    const name = `usage_${step}`;
    const named = { key_id: 'text', product: 'text', method: 'text', status: 'text' } as const;
    const columns: ColumnTypes = {
      [step]: 'bigint',
      customer_id: 'text',
      ...named,
      ...counters,
      last_minute: 'bigint',
    };
    await createTable(db, name, columns, [step, ...Object.keys(named)]);
    await db.schema.createIndex(`${name}_by_customer`).on(name).columns(['customer_id', step]).execute();
    await db.schema.createIndex(`${name}_by_key`).on(name).columns(['key_id', step]).execute();
  }
}

async function createTotals(db: Kysely<unknown>): Promise<void> {
  for (const [name, third] of [
    ['usage_total', 'plan_id'],
    ['usage_method', 'method'],
  ] as const) {
    const named: ColumnTypes = {
      customer_id: 'text',
      step: 'text',
      bucket: 'bigint',
      [third]: 'text',
      product: 'text',
      status: 'text',
    };
    await createTable(db, name, { ...named, ...counters }, Object.keys(named));
    await db.schema.createIndex(`${name}_by_step`).on(name).columns(['step', 'bucket']).execute();
  }
}

async function createRollupState(db: Kysely<unknown>): Promise<void> {
  const marks = { kind: 'text', bucket: 'bigint', epoch: 'text', token: 'bigint' } as const;
  await createTable(db, 'usage_mark', marks, ['kind', 'bucket', 'epoch']);
  await createTable(db, 'usage_horizon', { step: 'text', bucket: 'bigint' }, ['step']);
  await createTable(db, 'usage_epoch', { epoch: 'text', written_at: 'bigint' }, ['epoch']);
  await createTable(db, 'usage_claim', { name: 'text', holder: 'text', until: 'bigint' }, ['name']);
  const seen = {
    hour: 'bigint',
    epoch: 'text',
    requests: 'bigint',
    messages: 'bigint',
    credits: 'bigint',
  } as const;
  await createTable(db, 'usage_seen', seen, ['hour', 'epoch']);
  await db.schema
    .createTable('usage_check')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('ran_at', 'bigint', (column) => column.notNull())
    .addColumn('violations', 'bigint', (column) => column.notNull())
    .addColumn('example', 'text')
    .execute();
}

/** Assigns owners to minutes of an earlier schema and marks them for roll-up. */
async function adoptMinutes(db: Kysely<unknown>): Promise<void> {
  for (const name of ['customer_id', 'plan_id']) {
    await db.schema
      .alterTable('usage_minute')
      .addColumn(name, 'text', (column) => column.notNull().defaultTo(''))
      .execute();
  }
  await sql`update usage_minute set
    customer_id = coalesce((select customer_id from api_key where api_key.id = usage_minute.key_id),
      case when key_id = '' then 'house' else '' end),
    plan_id = coalesce((select plan_id from api_key where api_key.id = usage_minute.key_id), '')`.execute(db);
  await db.schema
    .createIndex('usage_minute_by_customer')
    .on('usage_minute')
    .columns(['customer_id', 'minute'])
    .execute();
  await sql`insert into usage_mark (kind, bucket, epoch, token)
    select distinct 'minute', minute, epoch, 0 from usage_minute`.execute(db);
  await sql`insert into usage_mark (kind, bucket, epoch, token)
    select distinct 'hour', minute / 60, epoch, 0 from usage_minute`.execute(db);
}

export async function createUsageTables(db: Kysely<unknown>): Promise<void> {
  await createDetails(db);
  await createTotals(db);
  await createRollupState(db);
  await adoptMinutes(db);
  await db.schema
    .createIndex('api_key_customer_plan')
    .on('api_key')
    .columns(['customer_id', 'plan_id'])
    .execute();
}

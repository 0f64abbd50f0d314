import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { UsageStatus } from '../../../gateway/metering/usage-meter.ts';
import type { Product } from '../../../protocol/product.ts';

/**
 * What the minutes of usage are rolled up into, and the books of doing so. Each row follows from rows of the finer
 * table alone:
 *
 *     usage_minute ─▶ usage_hour ─▶ usage_day                                        by key and method
 *          └─▶ usage_total, usage_method: minute ─▶ hour ─▶ day                      by customer
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

/** What is counted everywhere. */
export interface UsageCounters {
  requests: number;
  bytes_in: number;
  bytes_out: number;
  credits: number;
  messages: number;
  /** As in usage_minute. */
  latency: string;
}

/** Sums over processes. Hours and days are counted from 1970 in UTC, as minutes are. */
export interface UsageDetailTable extends UsageCounters {
  /** Empty for keys that the store does not know; calls without a key are the house's. */
  customer_id: string;
  key_id: string;
  product: Product;
  method: string;
  status: UsageStatus;
  /** The last minute in which any of it was counted. */
  last_minute: number;
}

/** Steps of time in which usage is kept. */
export const usageSteps = ['minute', 'hour', 'day'] as const;
export type UsageStep = (typeof usageSteps)[number];

/** All methods and keys together: a few rows per customer and step, for what Home shows and for quotas. */
export interface UsageTotalTable extends UsageCounters {
  step: UsageStep;
  /** Unix minutes, hours or days. */
  bucket: number;
  customer_id: string;
  /** The plan that the keys had when it was counted. */
  plan_id: string;
  product: Product;
  status: UsageStatus;
}

/** All keys together, by method. */
export interface UsageMethodTable extends UsageCounters {
  step: UsageStep;
  bucket: number;
  customer_id: string;
  product: Product;
  method: string;
  status: UsageStatus;
}

/** What a mark says is to be made anew: totals of a minute, hour or day, or the rows by key of an hour or day. */
export const dirtyBucketKinds = ['minute', 'total_hour', 'total_day', 'hour', 'day'] as const;
export type DirtyBucketKind = (typeof dirtyBucketKinds)[number];

/**
 * Says that what a bucket follows from has changed. It is written in the transaction of the change and taken away in
 * the one that made the bucket anew, if it is still the same.
 */
export interface UsageMarkTable {
  kind: DirtyBucketKind;
  bucket: number;
  /** Whose change; empty for that of a roll-up. Each writer has marks of its own, so that none waits for another. */
  epoch: string;
  /** Another one with each change. */
  token: number;
}

/** The first bucket that is still kept; what is before it was deleted, and nothing is counted there any more. */
export interface UsageHorizonTable {
  step: UsageStep;
  bucket: number;
}

/** Runs of processes that wrote usage. */
export interface UsageEpochTable {
  epoch: string;
  /** Unix milliseconds. */
  written_at: number;
}

/** Who of several gateways does what only one needs to do. */
export interface UsageClaimTable {
  name: string;
  holder: string;
  /** Unix milliseconds. */
  until: number;
}

/** What the checks of the books found last. */
export interface UsageCheckTable {
  name: string;
  ran_at: number;
  violations: number;
  example: string | null;
}

/** What a check saw of the minutes of an hour, so that the next one notices when it became less. */
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

/** Hours and days by key: looked up by customer or by key, and deleted by age. */
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

/** Whose the minutes are that an earlier schema wrote, and that all of them are to be rolled up. */
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

/** Step 8 of the schema. */
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

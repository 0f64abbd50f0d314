import type { UsageStatus } from '../../../gateway/metering/usage-status.ts';
import type { Network } from '../../../protocol/call.ts';
import type { Product } from '../../../protocol/product.ts';
import { DEFAULT_CUSTOMER_ID } from '../../accounts/roles.ts';

/**
 * Roll-ups of usage_minute and their bookkeeping. usage_hour and usage_day have rows by key and method; usage_total,
 * usage_method and usage_fleet have rows by minute, hour and day. Hours and days are counted from 1970 (UTC).
 */
export interface UsageTables {
  usage_hour: UsageDetailTable & Readonly<{ hour: number }>;
  usage_day: UsageDetailTable & Readonly<{ day: number }>;
  usage_total: UsageTotalTable;
  usage_method: UsageMethodTable;
  usage_fleet: UsageFleetTable;
  usage_mark: UsageMarkTable;
  /** First retained bucket. Earlier usage has been deleted and is no longer accepted. */
  usage_horizon: {
    step: UsageStep;
    bucket: number;
  };
  /** One row for each process run that has written usage. */
  usage_epoch: {
    epoch: string;
    written_at: number;
    /** Id of the gateway; empty if only its journal was recovered. */
    gateway: string;
    /** 1: wrote all details; 0: wrote totals without method, network and code, which are in ClickHouse. */
    detailed: number;
  };
  /** Leases for work that only one gateway at a time should do. */
  usage_claim: {
    name: string;
    holder: string;
    until: number;
  };
  /** Latest results of the consistency checks. */
  usage_check: {
    name: string;
    ran_at: number;
    violations: number;
    example: string | null;
  };
  /** Highest totals that each process run has reached in an hour, to detect decreases. */
  usage_seen: {
    hour: number;
    epoch: string;
    requests: number;
    messages: number;
    credits: number;
  };
}

/** Tables with a column for the step, which are rolled up together. */
export const totalTables = ['usage_total', 'usage_method', 'usage_fleet'] as const;

export interface UsageCounters {
  requests: number;
  bytes_in: number;
  bytes_out: number;
  credits: number;
  /** Messages sent by subscriptions and streams. Their bytes are included in bytes_out. */
  messages: number;
  /** Histogram from base/histogram.ts as comma-separated `bucket:count` pairs in ascending order. */
  latency: string;
}

export interface UsageLabels {
  status: UsageStatus;
  /** Empty if the request ended without naming a network. */
  network: Network | '';
  /** Error code; empty for status `ok`, and if an older version wrote the row. */
  code: string;
}

/** Totals across processes. */
export interface UsageDetailTable extends UsageCounters, UsageLabels {
  /** The built-in customer for calls without a known key; empty for keys that the store lacks. */
  customer_id: string;
  key_id: string;
  product: Product;
  /** Empty in totals of a run that writes its details to ClickHouse. */
  method: string;
  /** The last minute with usage. */
  last_minute: number;
}

export const usageSteps = ['minute', 'hour', 'day'] as const;
export type UsageStep = (typeof usageSteps)[number];

interface UsageSumTable extends UsageCounters {
  step: UsageStep;
  /** Minutes, hours or days since the Unix epoch. */
  bucket: number;
  product: Product;
  status: UsageStatus;
}

/** Totals across methods and keys, for summaries and quotas. */
export interface UsageTotalTable extends UsageSumTable {
  customer_id: string;
  /** Plan of the key at the time of the call. */
  plan_id: string;
}

/** Totals across keys. */
export interface UsageMethodTable extends UsageSumTable, UsageLabels {
  customer_id: string;
  method: string;
}

/** Totals of each process run across customers. */
export interface UsageFleetTable extends UsageSumTable, UsageLabels {
  epoch: string;
  method: string;
}

/** Scope of a mark: the totals of a minute, hour or day, the per-key rows of an hour or day, or those in ClickHouse. */
export type MarkKind = 'minute' | `${'total_' | '' | 'clickhouse_'}${'hour' | 'day'}`;

/** Marks a bucket whose source rows changed. Written in the transaction of the change, deleted by the roll-up. */
export interface UsageMarkTable {
  kind: MarkKind;
  bucket: number;
  /** Id of the writer's process run; empty for a roll-up. Separate marks keep writers from waiting for each other. */
  epoch: string;
  /** Random for each change, so that the roll-up deletes only unchanged marks. */
  token: number;
}

const counters = `requests bigint not null, bytes_in bigint not null, bytes_out bigint not null,
  credits bigint not null, messages bigint not null, latency text not null`;

const detailTable = (step: 'hour' | 'day'): string => `
  create table usage_${step} (
    ${step} bigint not null, customer_id text not null, key_id text not null, product text not null,
    method text not null, status text not null, ${counters}, last_minute bigint not null,
    constraint usage_${step}_row primary key (${step}, key_id, product, method, status)
  );
  create index usage_${step}_by_customer on usage_${step} (customer_id, ${step});
  create index usage_${step}_by_key on usage_${step} (key_id, ${step});`;

const totalTable = (name: string, third: string): string => `
  create table ${name} (
    customer_id text not null, step text not null, bucket bigint not null, ${third} text not null,
    product text not null, status text not null, ${counters},
    constraint ${name}_row primary key (customer_id, step, bucket, ${third}, product, status)
  );
  create index ${name}_by_step on ${name} (step, bucket);`;

const rollUpState = `
  create table usage_mark (
    kind text not null, bucket bigint not null, epoch text not null, token bigint not null,
    constraint usage_mark_row primary key (kind, bucket, epoch)
  );
  create table usage_horizon (
    step text not null, bucket bigint not null, constraint usage_horizon_row primary key (step)
  );
  create table usage_epoch (
    epoch text not null, written_at bigint not null, constraint usage_epoch_row primary key (epoch)
  );
  create table usage_claim (
    name text not null, holder text not null, until bigint not null,
    constraint usage_claim_row primary key (name)
  );
  create table usage_seen (
    hour bigint not null, epoch text not null, requests bigint not null, messages bigint not null,
    credits bigint not null, constraint usage_seen_row primary key (hour, epoch)
  );
  create table usage_check (
    name text primary key, ran_at bigint not null, violations bigint not null, example text
  );`;

/** Assigns customers and plans to minutes from an earlier schema, and marks the minutes for roll-up. */
const adoptMinutes = `
  alter table usage_minute add column customer_id text not null default '';
  alter table usage_minute add column plan_id text not null default '';
  update usage_minute set
    customer_id = coalesce((select customer_id from api_key where api_key.id = usage_minute.key_id),
      case when key_id = '' then '${DEFAULT_CUSTOMER_ID}' else '' end),
    plan_id = coalesce((select plan_id from api_key where api_key.id = usage_minute.key_id), '');
  create index usage_minute_by_customer on usage_minute (customer_id, minute);
  insert into usage_mark (kind, bucket, epoch, token)
    select distinct 'minute', minute, epoch, 0 from usage_minute;
  insert into usage_mark (kind, bucket, epoch, token)
    select distinct 'hour', minute / 60, epoch, 0 from usage_minute;`;

export const usageTables =
  detailTable('hour') +
  detailTable('day') +
  totalTable('usage_total', 'plan_id') +
  totalTable('usage_method', 'method') +
  rollUpState +
  adoptMinutes +
  'create index api_key_customer_plan on api_key (customer_id, plan_id)';

/** Columns of a table before this step, to copy its rows. */
const copied = (columns: string): string =>
  `customer_id, key_id, product, method, status, requests, bytes_in, bytes_out, credits, messages, latency, ${columns}`;

/** Adds network and code to the primary key, which needs a new table. */
const withOutcome = (table: string, own: string, key: string, columns: string): string => `
  alter table ${table} rename to ${table}_old;
  create table ${table} (
    ${own}, customer_id text not null, key_id text not null, product text not null, method text not null,
    status text not null, network text not null default '', code text not null default '', ${counters},
    constraint ${table}_outcome primary key (${key}, key_id, product, method, status, network, code)
  );
  insert into ${table} (${copied(columns)}) select ${copied(columns)} from ${table}_old;
  drop table ${table}_old;
  create index ${table}_by_customer on ${table} (customer_id, ${key.split(',')[0]});
  create index ${table}_by_key on ${table} (key_id, ${key.split(',')[0]});`;

const rolledUp = (step: 'hour' | 'day'): string =>
  withOutcome(
    `usage_${step}`,
    `${step} bigint not null, last_minute bigint not null`,
    step,
    `${step}, last_minute`,
  );

export const usageLabels = `
  ${withOutcome(
    'usage_minute',
    'minute bigint not null, epoch text not null, plan_id text not null',
    'minute, epoch',
    'minute, epoch, plan_id',
  )}
  ${rolledUp('hour')}
  ${rolledUp('day')}
  create table usage_fleet (
    step text not null, bucket bigint not null, epoch text not null, product text not null,
    method text not null, status text not null, network text not null, code text not null, ${counters},
    constraint usage_fleet_row primary key (step, bucket, epoch, product, method, status, network, code)
  );
  alter table usage_epoch add column gateway text not null default '';
  insert into usage_mark (kind, bucket, epoch, token)
    select distinct 'minute', minute, epoch, 0 from usage_minute where true
    on conflict (kind, bucket, epoch) do update set token = 0`;

/** Earlier runs wrote all details. */
export const usageDetailed = 'alter table usage_epoch add column detailed integer not null default 1';

/** With all columns of sums of keys, and in the order in which histograms of a customer are read. */
export const usageListIndexes = `
  create index usage_day_sums on usage_day (day, key_id, customer_id, status, requests, credits);
  ${(['hour', 'day'] as const)
    .map(
      (step) => `drop index usage_${step}_by_customer;
        create index usage_${step}_by_customer on usage_${step}
          (customer_id, ${step}, key_id, product, method, status, network, code);`,
    )
    .join('')}`;

/**
 * Adds network and code to usage_method, without defaults: roll-ups by an older version must fail. The new rows have the
 * state of the rows of keys, so what is stale of these is marked.
 */
export const usageMethods = `
  insert into usage_mark (kind, bucket, epoch, token)
    select distinct 'total_' || kind, bucket, '', 0 from usage_mark where kind in ('hour', 'day')
    on conflict (kind, bucket, epoch) do update set token = 0;
  drop table usage_method;
  create table usage_method (
    customer_id text not null, step text not null, bucket bigint not null, method text not null,
    product text not null, status text not null, network text not null, code text not null, ${counters},
    constraint usage_method_row primary key (customer_id, step, bucket, method, product, status, network, code)
  )`;

/** Groups by key need no sorting, because indexes of usage_day have the keys of 32 days in order. */
export const usageKeyIndexes = `
  create index usage_method_by_step on usage_method (step, bucket);
  drop index usage_hour_by_customer;
  create index usage_hour_by_customer on usage_hour (customer_id, hour, key_id, status);
  drop index usage_day_by_key;
  drop index usage_day_by_customer;
  drop index usage_day_sums;
  create index usage_day_keys on usage_day ((day / 32), key_id, day, status, requests, credits, messages);
  create index usage_day_customer_keys on usage_day
    (customer_id, (day / 32), key_id, day, status, requests, credits, messages)`;

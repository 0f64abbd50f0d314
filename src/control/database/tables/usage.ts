import type { UsageStatus } from '../../../gateway/metering/usage-status.ts';
import type { Product } from '../../../protocol/product.ts';
import { DEFAULT_CUSTOMER_ID } from '../../accounts/roles.ts';

/**
 * Roll-ups of usage_minute and their bookkeeping. usage_hour and usage_day have rows by key and method; usage_total and
 * usage_method have rows by minute, hour and day. Hours and days are counted from 1970 (UTC).
 */
export interface UsageTables {
  usage_hour: UsageDetailTable & Readonly<{ hour: number }>;
  usage_day: UsageDetailTable & Readonly<{ day: number }>;
  usage_total: UsageTotalTable;
  usage_method: UsageMethodTable;
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

/** Totals across processes. */
export interface UsageDetailTable extends UsageCounters {
  /** The built-in customer for calls without a valid key; empty for keys that the store lacks. */
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

interface UsageSumTable extends UsageCounters {
  step: UsageStep;
  /** Minutes, hours or days since the Unix epoch. */
  bucket: number;
  customer_id: string;
  product: Product;
  status: UsageStatus;
}

/** Totals across methods and keys, for summaries and quotas. */
export interface UsageTotalTable extends UsageSumTable {
  /** Plan of the key at the time of the call. */
  plan_id: string;
}

/** Totals by method, across keys. */
export interface UsageMethodTable extends UsageSumTable {
  method: string;
}

/** Scope of a mark: the totals of a minute, hour or day, or the per-key rows of an hour or day. */
export type MarkKind = 'minute' | 'total_hour' | 'total_day' | 'hour' | 'day';

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

import { type UsageStep, usageSteps } from '../../database/tables/usage.ts';
import { stepMs } from '../read-usage.ts';
import { counterColumns } from '../usage-sums.ts';

/** Name of a table in the database that the URL names. */
export const tableOf = (step: UsageStep): string => `usage_${step}`;

/** Dimensions of a row, apart from its bucket. */
export const dimensionColumns = [
  ...(['epoch', 'customer_id', 'key_id', 'product', 'method', 'status', 'network', 'code'] as const),
];

/**
 * Rows of hours and days exist three times, so that a sum reads few rows: by all dimensions except the run, by all except
 * key and run, and by all except key and customer.
 */
export const levels = { fleet: 1, customer: 2, detail: 3 } as const;
export type Level = keyof typeof levels;

const columns: readonly string[] = [
  'bucket Int64',
  'last_minute Int64',
  ...dimensionColumns.map((name) => `${name} String`),
  ...counterColumns.map((name) => `${name} UInt64`),
  'latency_buckets Array(UInt8)',
  'latency_counts Array(UInt64)',
];

/** A partition has one day, so sorting by day first lets reads of all customers merge partitions by a number. */
const orders: Readonly<Record<UsageStep, string>> = {
  minute: 'bucket, customer_id',
  hour: 'level, customer_id, bucket',
  day: 'level, bucket, customer_id',
};

/** Fewer than usual: a partition has few rows of a customer, and reads of many partitions read whole granules. */
const GRANULE_ROWS = 512;

/**
 * Rows are running totals: of the states of a row, the one with the largest counters is merged in. One partition per day
 * (UTC), which retention drops as a whole. The sorting key has a hash of all dimensions, because merging compares it.
 */
const createTable = (step: UsageStep): string => {
  const level = step === 'minute' ? [] : ['level UInt8'];
  const materialized = [
    `version UInt64 materialized ${counterColumns.join(' + ')}`,
    `row UInt64 materialized cityHash64(${dimensionColumns.join(', ')})`,
  ];
  return `create table if not exists ${tableOf(step)} (${[...level, ...columns, ...materialized].join(', ')})
    engine = ReplacingMergeTree(version) partition by intDiv(bucket, ${stepMs.day / stepMs[step]})
    order by (${orders[step]}, key_id, row) settings index_granularity = ${GRANULE_ROWS}`;
};

export const createUsageTables: readonly string[] = usageSteps.map(createTable);

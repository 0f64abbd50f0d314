import type { NewLogRow } from '../log-store.ts';

/** In the database that the URL names. */
export const TABLE = 'request_log';

export const DAY_MS = 86_400_000;

const columns = {
  id: 'String',
  at: 'Int64',
  gateway: 'String',
  customer_id: 'String',
  key_id: 'Nullable(String)',
  product: 'String',
  network: 'Nullable(String)',
  method: 'String',
  status: 'String',
  http: 'Int32',
  rpc_code: 'Int64',
  failure: 'Nullable(String)',
  message: 'Nullable(String)',
  signature: 'Nullable(String)',
  micros: 'Int64',
  bytes_in: 'Int64',
  bytes_out: 'Int64',
  node: 'Nullable(String)',
  address: 'String',
  origin: 'Nullable(String)',
  steps: 'String',
  params: 'Nullable(String)',
  result: 'Nullable(String)',
} as const satisfies Record<keyof NewLogRow, string>;

export const rowColumns = Object.keys(columns);
export const listedColumns = rowColumns.filter((name) => !['steps', 'params', 'result'].includes(name));

const definitions = Object.entries(columns).map(([name, type]) => `${name} ${type}`);

/**
 * One partition per day (UTC), which retention drops as a whole. Rows that were stored twice are merged. `terms` are those
 * of log-terms.ts. The granules are small, because a page reads single rows.
 */
export const createTable = `create table if not exists ${TABLE} (${definitions.join(', ')}, terms Array(String))
  engine = ReplacingMergeTree partition by intDiv(at, ${DAY_MS}) order by (customer_id, at, id)
  settings index_granularity = 1024`;

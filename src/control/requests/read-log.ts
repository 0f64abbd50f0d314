import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { ParsedRouteInput, RouteOutput } from '../api/contract/contract.ts';
import type { LogEntryJson } from '../api/contract/logs.ts';
import { fieldsOf } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { RequestLogTable } from '../database/tables/requests.ts';
import { firstIdAt } from './entry-ids.ts';

type LogRoute = 'GET /customers/{customer}/logs';

/** `from` and `to` are Unix milliseconds; `to` is exclusive. */
export type LogFilter = Omit<ParsedRouteInput<LogRoute>['query'], 'cursor' | 'limit' | 'from' | 'to'> &
  Readonly<{ from: number; to: number }>;

export type LogRow = Selectable<RequestLogTable> & { key_name: string | null };

const HISTOGRAM_STEPS_MAX = 60;
const HISTOGRAM_STEP_MIN_MS = 1_000;

type Build = ExpressionBuilder<Schema, 'request_log'>;

function matches(build: Build, customerId: string, filter: LogFilter) {
  const { key, method, product, status, rpcCode, minMs, address } = filter;
  return build.and([
    build('request_log.customer_id', '=', customerId),
    build('request_log.id', '>=', firstIdAt(filter.from)),
    build('request_log.id', '<', firstIdAt(filter.to)),
    ...(key === undefined ? [] : [build('request_log.key_id', '=', key)]),
    ...(method === undefined ? [] : [build('request_log.method', '=', method)]),
    ...(product === undefined ? [] : [build('request_log.product', '=', product)]),
    ...(status === undefined ? [] : [build('request_log.status', '=', status)]),
    ...(rpcCode === undefined ? [] : [build('request_log.rpc_code', '=', rpcCode)]),
    ...(minMs === undefined ? [] : [build('request_log.micros', '>=', Math.round(minMs * 1_000))]),
    ...(address === undefined ? [] : [build('request_log.address', '=', address)]),
  ]);
}

const rows = ({ db }: Store) =>
  db
    .selectFrom('request_log')
    .leftJoin('api_key', 'api_key.id', 'request_log.key_id')
    .selectAll('request_log')
    .select('api_key.name as key_name');

/** Returns entries, newest first. `before` is the last id of the previous page. */
export function readLog(
  store: Store,
  customerId: string,
  filter: LogFilter,
  limit: number,
  before: string | null,
): Promise<LogRow[]> {
  let query = rows(store).where((build) => matches(build as unknown as Build, customerId, filter));
  if (before !== null) query = query.where('request_log.id', '<', before);
  return query.orderBy('request_log.id', 'desc').limit(limit).execute();
}

export const readEntry = (store: Store, customerId: string, id: string): Promise<LogRow | undefined> =>
  rows(store)
    .where('request_log.id', '=', id)
    .where('request_log.customer_id', '=', customerId)
    .executeTakeFirst();

type LogHistogram = RouteOutput<LogRoute>['histogram'];

export async function countLog(store: Store, customerId: string, filter: LogFilter): Promise<LogHistogram> {
  const { from, to } = filter;
  const stepMs = Math.max(HISTOGRAM_STEP_MIN_MS, Math.ceil((to - from) / HISTOGRAM_STEPS_MAX));
  const step = sql<number>`(request_log.at - ${sql.lit(from)}) / ${sql.lit(stepMs)}`;
  const found = await store.db
    .selectFrom('request_log')
    .select((select) => [
      step.as('step'),
      select.fn.countAll<number>().as('requests'),
      sql<number>`sum(case when status = 'ok' then 0 else 1 end)`.as('failed'),
    ])
    .where((build) => matches(build, customerId, filter))
    .groupBy(sql`1`)
    .execute();
  const steps = Math.max(1, Math.ceil((to - from) / stepMs));
  const counts = new Array<number>(steps).fill(0);
  const errors = new Array<number>(steps).fill(0);
  for (const { step: at, requests, failed } of found) {
    const stepIndex = Math.min(steps - 1, Math.max(0, Number(at)));
    counts[stepIndex] = (counts[stepIndex] ?? 0) + Number(requests);
    errors[stepIndex] = (errors[stepIndex] ?? 0) + Number(failed);
  }
  return { from, stepMs, counts, errors };
}

export const toLogEntryJson = (row: LogRow): LogEntryJson => ({
  ...fieldsOf(row, 'id', 'at', 'key_id', 'key_name', 'product', 'network', 'method', 'status', 'http'),
  ...fieldsOf(row, 'rpc_code', 'failure', 'bytes_in', 'bytes_out', 'node', 'address', 'origin', 'gateway'),
  ms: row.micros / 1_000,
});

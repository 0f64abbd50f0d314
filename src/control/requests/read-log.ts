import { type Selectable, sql } from 'kysely';
import { type FailureCode, failures } from '../../protocol/errors.ts';
import type { RouteOutput } from '../api/contract/contract.ts';
import type { LogEntryJson } from '../api/contract/logs.ts';
import { fieldsOf } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import type { RequestLogTable } from '../database/tables/requests.ts';
import { timeOfId } from './entry-ids.ts';
import { createSearch, entriesOf, type LogFilter, scanEnd } from './log-search.ts';

export type LogRow = Selectable<RequestLogTable> & { key_name: string | null };

const HISTOGRAM_STEPS_MAX = 60;
const HISTOGRAM_STEP_MIN_MS = 1_000;

export type LogPage = Readonly<{
  rows: LogRow[];
  /** Id before which the search continues, although the page may not be full; null: the search is complete. */
  end: string | null;
}>;

/** Returns entries, newest first. `before` is the last id of the previous page. */
export async function readLog(
  store: Store,
  customerId: string,
  filter: LogFilter,
  limit: number,
  before: string | null,
): Promise<LogPage> {
  const search = await createSearch(store, customerId, filter, before);
  const rows = await entriesOf(search)
    .leftJoin('api_key', 'api_key.id', 'request_log.key_id')
    .selectAll('request_log')
    .select('api_key.name as key_name')
    .orderBy('found.id', 'desc')
    .limit(limit)
    .execute();
  return { rows, end: rows.length < limit ? await scanEnd(search) : null };
}

export const readEntry = ({ db }: Store, customerId: string, id: string): Promise<LogRow | undefined> =>
  db
    .selectFrom('request_log')
    .leftJoin('api_key', 'api_key.id', 'request_log.key_id')
    .selectAll('request_log')
    .select('api_key.name as key_name')
    .where('request_log.id', '=', id)
    .where('request_log.customer_id', '=', customerId)
    .executeTakeFirst();

type LogHistogram = RouteOutput<'GET /customers/{customer}/logs/histogram'>;

export async function countLog(store: Store, customerId: string, filter: LogFilter): Promise<LogHistogram> {
  const { from, to } = filter;
  const search = await createSearch(store, customerId, filter, null);
  const stepMs = Math.max(HISTOGRAM_STEP_MIN_MS, Math.ceil((to - from) / HISTOGRAM_STEPS_MAX));
  const step = sql<number>`(request_log.at - ${sql.lit(from)}) / ${sql.lit(stepMs)}`;
  const found = await entriesOf(search)
    .select((select) => [
      step.as('step'),
      select.fn.countAll<number>().as('requests'),
      sql<number>`sum(case when status = 'ok' then 0 else 1 end)`.as('failed'),
    ])
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
  const end = await scanEnd(search);
  return { from, stepMs, counts, errors, countedFrom: end === null ? from : timeOfId(end) };
}

/** The party that is responsible for a failed request; null for a successful one. */
function ownerOf({ status, failure }: LogRow): LogEntryJson['owner'] {
  if (status === 'ok') return null;
  if (failure !== null && Object.hasOwn(failures, failure)) return failures[failure as FailureCode].owner;
  if (status === 'rpcError') return 'node';
  return status === 'limited' ? 'client' : status;
}

/** @param isOperator - only operators see the names of nodes. */
export const toLogEntryJson = (row: LogRow, isOperator: boolean): LogEntryJson => ({
  ...fieldsOf(row, 'id', 'at', 'key_id', 'key_name', 'product', 'network', 'method', 'status', 'http'),
  ...fieldsOf(row, 'rpc_code', 'failure', 'message', 'signature', 'bytes_in', 'bytes_out'),
  ...fieldsOf(row, 'address', 'origin', 'gateway'),
  owner: ownerOf(row),
  node: isOperator ? row.node : null,
  ms: row.micros / 1_000,
});

import { type FailureCode, failures } from '../../protocol/errors.ts';
import type { RouteOutput } from '../api/contract/contract.ts';
import type { LogEntryJson } from '../api/contract/logs.ts';
import { fieldsOf, namesOf } from '../database/rows.ts';
import type { Store } from '../database/store.ts';
import { timeOfId } from './entry-ids.ts';
import type { ListedRow, LogFilter, LogStore } from './log-store.ts';

export type Named<Row> = Row & { key_name: string | null };

const HISTOGRAM_STEPS_MAX = 60;
const HISTOGRAM_STEP_MIN_MS = 1_000;

/** Adds the names of keys, which only the database knows. */
export async function withKeyNames<Row extends ListedRow>(
  { db }: Store,
  rows: readonly Row[],
): Promise<Named<Row>[]> {
  const names = await namesOf(
    db,
    'api_key',
    rows.map(({ key_id }) => key_id),
  );
  return rows.map((row) => ({ ...row, key_name: names.get(row.key_id) ?? null }));
}

type LogHistogram = RouteOutput<'GET /customers/{customer}/logs/histogram'>;

export async function countLog(log: LogStore, customerId: string, filter: LogFilter): Promise<LogHistogram> {
  const { from, to } = filter;
  const stepMs = Math.max(HISTOGRAM_STEP_MIN_MS, Math.ceil((to - from) / HISTOGRAM_STEPS_MAX));
  const found = await log.count(customerId, filter, stepMs);
  const steps = Math.max(1, Math.ceil((to - from) / stepMs));
  const counts = new Array<number>(steps).fill(0);
  const errors = new Array<number>(steps).fill(0);
  for (const { step, requests, failed } of found.steps) {
    const at = Math.min(steps - 1, Math.max(0, step));
    counts[at] = (counts[at] ?? 0) + requests;
    errors[at] = (errors[at] ?? 0) + failed;
  }
  const countedFrom = found.end === null ? from : timeOfId(found.end);
  return { from, stepMs, counts, errors, countedFrom };
}

/** The party that is responsible for a failed request; null for a successful one. */
function ownerOf({ status, failure }: ListedRow): LogEntryJson['owner'] {
  if (status === 'ok') return null;
  if (failure !== null && Object.hasOwn(failures, failure)) return failures[failure as FailureCode].owner;
  if (status === 'rpcError') return 'node';
  return status === 'limited' ? 'client' : status;
}

/** @param isOperator - only operators see the names of nodes. */
export const toLogEntryJson = (row: Named<ListedRow>, isOperator: boolean): LogEntryJson => ({
  ...fieldsOf(row, 'id', 'at', 'key_id', 'key_name', 'product', 'network', 'method', 'status', 'http'),
  ...fieldsOf(row, 'rpc_code', 'failure', 'message', 'signature', 'bytes_in', 'bytes_out'),
  ...fieldsOf(row, 'address', 'origin', 'gateway'),
  owner: ownerOf(row),
  node: isOperator ? row.node : null,
  ms: row.micros / 1_000,
});

import type { ClickHouse } from '../../clickhouse/client.ts';
import { insertAccepted } from '../../clickhouse/insert-accepted.ts';
import type { ClickHouseTables } from '../../clickhouse/tables.ts';
import type { Store } from '../../database/store.ts';
import type { FailureState } from '../../failure-state.ts';
import {
  accountsOf,
  markStale,
  noAccount,
  RejectedRows,
  retentionStarts,
  type StoredUsage,
  type UsageSink,
} from '../usage-rows.ts';
import { parseHistogram } from '../usage-sums.ts';
import { tableOf } from './usage-tables.ts';

/** Large, because the server stores each insert as a part and merges the parts. */
const BATCH_ROWS = 5_000;

function tableRow(runId: string, row: StoredUsage, customerId: string): object {
  const { buckets, counts } = parseHistogram(row.latency);
  const { minute, product, method, status, code, requests, credits, messages } = row;
  return {
    ...{
      bucket: minute,
      last_minute: minute,
      epoch: runId,
      customer_id: customerId,
      key_id: row.keyId ?? '',
    },
    ...{ product, method, status, network: row.network ?? '', code, requests, credits, messages },
    ...{ bytes_in: row.bytesIn, bytes_out: row.bytesOut, latency_buckets: buckets, latency_counts: counts },
  };
}

/**
 * Stores usage in ClickHouse. The database has the customers of keys, and the marks of hours to roll up. Hours are marked
 * after the insert: if that fails, the rows are written again.
 * @param state - of the inserts; the database has its own.
 */
export const clickHouseSink = (
  store: Store,
  server: ClickHouse,
  tables: ClickHouseTables,
  state: FailureState,
): UsageSink => ({
  batchRows: BATCH_ROWS,
  isJournaledFirst: true,
  async write(runId, rows) {
    const starts = await retentionStarts(store.db);
    const retained = rows.filter(({ minute }) => minute >= starts.minute);
    if (retained.length === 0) return rows.length;
    const accounts = await accountsOf(store.db, retained);
    const insert = (part: readonly StoredUsage[]) =>
      server.insert(
        tableOf('minute'),
        part.map((row) => tableRow(runId, row, (accounts.get(row.keyId) ?? noAccount).customer_id)),
      );
    const { rejected, error } = await state.watch(() => tables.use(() => insertAccepted(retained, insert)));
    const unstored = new Set(rejected);
    const stored = retained.filter((row) => !unstored.has(row));
    const hours = new Set(stored.map(({ minute }) => Math.floor(minute / 60)));
    const marks = [...hours].map((bucket) => ({ kind: 'clickhouse_hour', bucket }) as const);
    await store.db.transaction().execute((trx) => markStale(trx, runId, marks));
    const lateRows = rows.length - retained.length;
    if (rejected.length > 0) throw new RejectedRows(rejected, lateRows, error);
    return lateRows;
  },
});

import { randomInt } from 'node:crypto';
import { CompiledQuery, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { OperatorError } from '../../base/operator-error.ts';
import type { UsageRow } from '../../gateway/metering/usage-meter.ts';
import { DEFAULT_CUSTOMER_ID } from '../accounts/roles.ts';
import { selectRows, upsertRow } from '../database/rows.ts';
import type { Schema, UsageMinuteTable } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { MarkKind, UsageMarkTable, UsageStep } from '../database/tables/usage.ts';
import { counterColumns, serializeHistogram } from './usage-sums.ts';

export type StaleBucket = Readonly<{ kind: MarkKind; bucket: number }>;

export type MarkSnapshot = StaleBucket & Readonly<{ tokens: ReadonlyMap<string, number> }>;

export const stepOfKind: Readonly<Record<MarkKind, UsageStep>> = {
  minute: 'minute',
  total_hour: 'hour',
  total_day: 'day',
  hour: 'hour',
  day: 'day',
  clickhouse_hour: 'hour',
  clickhouse_day: 'day',
};

/** Tokens are random and compared for equality only. */
const TOKEN_END = 2 ** 47;

/** Marks buckets as stale on behalf of the run `runId`, in the transaction that changes their sources. */
export async function markStale(
  trx: Transaction<Schema>,
  runId: string,
  buckets: readonly StaleBucket[],
): Promise<void> {
  if (buckets.length === 0) return;
  const token = randomInt(TOKEN_END);
  await trx
    .insertInto('usage_mark')
    .values(buckets.map(({ kind, bucket }): UsageMarkTable => ({ kind, bucket, epoch: runId, token })))
    .onConflict((conflict) => conflict.columns(['kind', 'bucket', 'epoch']).doUpdateSet({ token }))
    .execute();
}

/** Stale buckets of a kind before `end`, newest first. */
export async function listStaleBuckets(
  db: Kysely<Schema>,
  kind: MarkKind,
  end: number,
  limit: number,
): Promise<number[]> {
  const rows = await db
    .selectFrom('usage_mark')
    .select('bucket')
    .distinct()
    .where('kind', '=', kind)
    .where('bucket', '<', end)
    .orderBy('bucket', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ bucket }) => bucket);
}

/** Reads the marks of a bucket. Must be called before reading the sources of the bucket. */
export async function readMarks(db: Kysely<Schema>, kind: MarkKind, bucket: number): Promise<MarkSnapshot> {
  const rows = await selectRows(db, 'usage_mark', { kind, bucket }).execute();
  return { kind, bucket, tokens: new Map(rows.map(({ epoch, token }) => [epoch, token])) };
}

/** Locks the marks, so that concurrent writers wait. Returns true if there are marks and none has changed. */
export async function lockIfUnchanged(trx: Transaction<Schema>, seen: MarkSnapshot): Promise<boolean> {
  if (seen.tokens.size === 0) return false;
  await trx
    .updateTable('usage_mark')
    .set((update) => ({ token: update.ref('token') }))
    .where('kind', '=', seen.kind)
    .where('bucket', '=', seen.bucket)
    .execute();
  const now = await readMarks(trx, seen.kind, seen.bucket);
  return (
    now.tokens.size === seen.tokens.size &&
    [...now.tokens].every(([epoch, token]) => seen.tokens.get(epoch) === token)
  );
}

/** Deletes the locked marks, but not marks that were added later. */
export async function clearMarks(
  trx: Transaction<Schema>,
  { kind, bucket, tokens }: MarkSnapshot,
): Promise<void> {
  await trx
    .deleteFrom('usage_mark')
    .where('kind', '=', kind)
    .where('bucket', '=', bucket)
    .where('epoch', 'in', [...tokens.keys()])
    .execute();
}

/** A usage row from the meter or from a journal. */
export type StoredUsage = Omit<UsageRow, 'latency' | 'keyId'> &
  Readonly<{ keyId: string | null; latency: string }>;

export const storedUsage = (row: UsageRow): StoredUsage => ({
  ...row,
  latency: serializeHistogram(row.latency),
});

export const rowKeyOf = ({ minute, keyId, product, method, status, network, code }: StoredUsage): string =>
  `${minute} ${keyId ?? ''} ${product} ${method} ${status} ${network ?? ''} ${code}`;

type UsageAccount = Readonly<{ customer_id: string; plan_id: string }>;

const builtInAccount: UsageAccount = { customer_id: DEFAULT_CUSTOMER_ID, plan_id: '' };
export const noAccount: UsageAccount = { customer_id: '', plan_id: '' };

function tableRow(runId: string, row: StoredUsage, account: UsageAccount): UsageMinuteTable {
  return {
    minute: row.minute,
    epoch: runId,
    key_id: row.keyId ?? '',
    ...account,
    product: row.product,
    method: row.method,
    status: row.status,
    network: row.network ?? '',
    code: row.code,
    requests: row.requests,
    bytes_in: row.bytesIn,
    bytes_out: row.bytesOut,
    credits: row.credits,
    messages: row.messages,
    latency: row.latency,
  };
}

/** Counters never decrease within a process, so the larger sum belongs to the newer state of a row. */
const extent = (table: 'excluded' | 'usage_minute') =>
  sql.raw(counterColumns.map((name) => `${table}.${name}`).join(' + '));

/** Keeps the row with the larger totals, so that repeated, late or reordered writes are harmless. */
function maxOnConflict(): Record<string, RawBuilder<never>> {
  const pick = (column: string) =>
    sql<never>`case when ${extent('excluded')} > ${extent('usage_minute')}
      then ${sql.ref(`excluded.${column}`)}
      else ${sql.ref(`usage_minute.${column}`)} end`;
  return Object.fromEntries([...counterColumns, 'latency'].map((column) => [column, pick(column)]));
}

/** Caches compiled SQL by dialect and row count, because compiling takes as long as executing. */
const upsertTexts = new WeakMap<object, Map<number, string>>();

/** Relies on the column order of `tableRow`. */
function upsertOf(trx: Transaction<Schema>, rows: readonly UsageMinuteTable[]): CompiledQuery {
  const { adapter } = trx.getExecutor();
  const texts = upsertTexts.get(adapter) ?? new Map<number, string>();
  upsertTexts.set(adapter, texts);
  const text = texts.get(rows.length) ?? textOfUpsert(trx, rows);
  texts.set(rows.length, text);
  return CompiledQuery.raw(
    text,
    rows.flatMap((row) => Object.values(row)),
  );
}

const textOfUpsert = (trx: Transaction<Schema>, rows: readonly UsageMinuteTable[]): string =>
  trx
    .insertInto('usage_minute')
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['minute', 'epoch', 'key_id', 'product', 'method', 'status', 'network', 'code'])
        .doUpdateSet(maxOnConflict()),
    )
    .compile().sql;

/** Accounts of the keys of rows, by key. */
export async function accountsOf(
  db: Kysely<Schema>,
  rows: readonly Pick<StoredUsage, 'keyId'>[],
): Promise<Map<string | null, UsageAccount>> {
  const accounts = new Map<string | null, UsageAccount>([[null, builtInAccount]]);
  const ids = [...new Set(rows.flatMap(({ keyId }) => (keyId === null ? [] : [keyId])))];
  if (ids.length === 0) return accounts;
  const keys = await db
    .selectFrom('api_key')
    .select(['id', 'customer_id', 'plan_id'])
    .where('id', 'in', ids)
    .execute();
  for (const { id, ...account } of keys) accounts.set(id, account);
  return accounts;
}

/** First retained bucket of each step. */
export async function retentionStarts(db: Kysely<Schema>): Promise<Readonly<Record<UsageStep, number>>> {
  const rows = await selectRows(db, 'usage_horizon', {}).execute();
  return {
    minute: 0,
    hour: 0,
    day: 0,
    ...Object.fromEntries(rows.map(({ step, bucket }) => [step, bucket])),
  };
}

function affectedBuckets(rows: readonly StoredUsage[]): StaleBucket[] {
  const minutes = new Set(rows.map(({ minute }) => minute));
  const hours = new Set([...minutes].map((minute) => Math.floor(minute / 60)));
  return [
    ...[...minutes].map((bucket) => ({ kind: 'minute', bucket }) as const),
    ...[...hours].map((bucket) => ({ kind: 'hour', bucket }) as const),
  ];
}

async function upsertUsage(trx: Transaction<Schema>, runId: string, rows: readonly StoredUsage[]) {
  const starts = await retentionStarts(trx);
  const retained = rows.filter(({ minute }) => minute >= starts.minute);
  if (retained.length === 0) return rows.length;
  const accounts = await accountsOf(trx, retained);
  const stored = retained.map((row) => tableRow(runId, row, accounts.get(row.keyId) ?? noAccount));
  await trx.executeQuery(upsertOf(trx, stored));
  await markStale(trx, runId, affectedBuckets(retained));
  return rows.length - retained.length;
}

/** A sink stored a batch without these rows, because it rejects their content. */
export class RejectedRows extends OperatorError {
  readonly rows: readonly StoredUsage[];
  readonly lateRows: number;

  /** @param cause - the error of the last of these rows. */
  constructor(rows: readonly StoredUsage[], lateRows: number, cause: unknown) {
    super(`${rows.length} usage rows were rejected, the first of key ${rows[0]?.keyId ?? 'none'}`, { cause });
    this.rows = rows;
    this.lateRows = lateRows;
  }
}

/** A place that stores usage rows. Storing a row again, or an earlier state of it, changes nothing. */
export type UsageSink = Readonly<{
  /** Rows per write. */
  batchRows: number;
  /** Whether rows go to the journal before each write, or only while a write fails or is slow. */
  isJournaledFirst: boolean;
  /**
   * Returns the number of rows rejected because their minutes were deleted.
   * @param gateway - id of the gateway; undefined if it is not known.
   * @throws RejectedRows - if all other rows are stored.
   */
  write(runId: string, rows: readonly StoredUsage[], gateway?: string): Promise<number>;
}>;

/** Rows per transaction: few, because other statements wait for it. */
const BATCH_ROWS = { sqlite: 100, postgres: 200 } as const;

/** PostgreSQL may be slow; SQLite is on the same disk as the journal. */
export const databaseSink = (store: Store): UsageSink => ({
  batchRows: BATCH_ROWS[store.dialect],
  isJournaledFirst: store.dialect !== 'sqlite',
  write: (runId, rows, gateway) => storeUsage(store, runId, rows, gateway),
});

/** Writes usage rows to the database. See `UsageSink`. */
export async function storeUsage(
  store: Store,
  runId: string,
  rows: readonly StoredUsage[],
  gateway?: string,
): Promise<number> {
  return store.db.transaction().execute(async (trx) => {
    const isDetailed = rows.some(({ method }) => method !== '');
    const written = {
      ...{ written_at: Date.now(), ...(isDetailed ? {} : { detailed: 0 }) },
      ...(gateway === undefined ? {} : { gateway }),
    };
    await upsertRow(trx, 'usage_epoch', { epoch: runId }, written);
    return upsertUsage(trx, runId, rows);
  });
}

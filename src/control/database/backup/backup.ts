import { createHash } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { OperatorError } from '../../../base/operator-error.ts';
import { migrations } from '../migrations.ts';
import { pagesOf } from '../rows.ts';
import type { Schema } from '../schema.ts';
import type { Store } from '../store.ts';

type BackupTable = Readonly<{ name: string; key: readonly string[] }>;

/** Primary keys of all tables. Referenced tables come first. null: run-time state that is not backed up. */
const keysOfTables = {
  change_counter: ['id'],
  pepper: ['version'],
  plan: ['id'],
  plan_price: ['plan_id', 'since'],
  plan_undo: ['subject'],
  billing_statement: ['id'],
  statement_key: ['id'],
  stripe_customer: ['customer_id'],
  stripe_event: ['id'],
  stripe_total: ['customer_id', 'month'],
  customer: ['id'],
  auth_user: ['id'],
  auth_session: ['id'],
  auth_account: ['id'],
  auth_verification: ['id'],
  auth_two_factor: ['id'],
  auth_tried_code: null,
  member: ['customer_id', 'user_id'],
  invitation: ['id'],
  admin_token: ['id'],
  usage_link: ['id'],
  api_key: ['id'],
  usage_minute: ['minute', 'epoch', 'key_id', 'product', 'method', 'status', 'network', 'code'],
  usage_hour: ['hour', 'key_id', 'product', 'method', 'status', 'network', 'code'],
  usage_day: ['day', 'key_id', 'product', 'method', 'status', 'network', 'code'],
  usage_total: ['customer_id', 'step', 'bucket', 'plan_id', 'product', 'status'],
  usage_method: ['customer_id', 'step', 'bucket', 'method', 'product', 'status', 'network', 'code'],
  usage_fleet: ['step', 'bucket', 'epoch', 'product', 'method', 'status', 'network', 'code'],
  usage_mark: ['kind', 'bucket', 'epoch'],
  usage_horizon: ['step'],
  usage_epoch: ['epoch'],
  usage_seen: ['hour', 'epoch'],
  usage_check: ['name'],
  usage_claim: null,
  audit: ['id'],
  semi_wallet: ['owner_id', 'address'],
  notice_target: ['id'],
  quota_notice: ['month', 'customer_id', 'plan_id', 'percent'],
  notice_delivery: ['id'],
  alert: ['id'],
  alert_silence: ['code'],
  node_history: ['step', 'bucket', 'network', 'node', 'gateway'],
  node_event: ['id'],
  request_log: ['id'],
  request_term: ['customer_id', 'term', 'id'],
  submission: ['id'],
  node_cordon: ['network', 'node'],
  upstream_node: ['name'],
  lagged_minute: null,
  unknown_method: ['hour', 'customer_id', 'method', 'gateway'],
  gateway: null,
  connection: null,
  connection_close: null,
} as const satisfies Record<Exclude<keyof Schema, 'schema_migration'>, readonly string[] | null>;

export const backupTables: readonly BackupTable[] = Object.entries(keysOfTables).flatMap(([name, key]) =>
  key === null ? [] : [{ name, key }],
);

type Row = Readonly<Record<string, string | number | null>>;

const PAGE_ROWS = 1_000;

/** Maximum values per statement. SQLite allows 32,766 and PostgreSQL 65,535. */
const VALUES_MAX = 30_000;

function readRows(db: Kysely<Schema>, { name, key }: BackupTable): AsyncGenerator<readonly Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  return pagesOf<Row>(PAGE_ROWS, async (last) => {
    const afterLastRow =
      last === null ? sql`` : sql`where (${columns}) > (${sql.join(key.map((column) => last[column]))})`;
    const page = sql<Row>`select * from ${sql.table(name)} ${afterLastRow}
      order by ${columns} limit ${sql.lit(PAGE_ROWS)}`;
    return (await page.execute(db)).rows;
  });
}

async function writeRows(db: Kysely<Schema>, table: string, rows: readonly Row[]): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const names = Object.keys(first);
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const atOnce = Math.max(1, Math.floor(VALUES_MAX / names.length));
  for (let from = 0; from < rows.length; from += atOnce) {
    const values = rows
      .slice(from, from + atOnce)
      .map((row) => sql`(${sql.join(names.map((name) => row[name] ?? null))})`);
    await sql`insert into ${sql.table(table)} (${columns}) values ${sql.join(values)}`.execute(db);
  }
}

const MODULUS = 1n << 256n;

/** Order-independent digest of rows, because databases sort text differently. */
class RowDigest {
  rows = 0;
  #sum = 0n;

  add(row: Row): void {
    const members = Object.keys(row)
      .sort()
      .map((name) => [name, row[name]]);
    const hash = createHash('sha256').update(JSON.stringify(members)).digest('hex');
    this.#sum = (this.#sum + BigInt(`0x${hash}`)) % MODULUS;
    this.rows++;
  }

  get hex(): string {
    return this.#sum.toString(16).padStart(64, '0');
  }
}

export type TableCount = Readonly<{ table: string; rows: number; digest: string }>;

/** The `table` part follows the rows of its table. */
export type BackupPart = Readonly<
  | { kind: 'begin'; schema: number }
  | { kind: 'rows'; table: string; rows: readonly Row[] }
  | { kind: 'table'; count: TableCount }
  | { kind: 'end' }
>;

export class BackupError extends OperatorError {
  override name = 'BackupError';
}

export const schemaNumber = (): number => migrations.at(-1)!.number;

/** Yields a consistent snapshot of the store. In SQLite, writers wait until it ends; in PostgreSQL, they continue. */
export async function* takeBackup(store: Store): AsyncGenerator<BackupPart> {
  const startSnapshot = store.db.startTransaction();
  const snapshot =
    store.dialect === 'postgres' ? startSnapshot.setIsolationLevel('repeatable read') : startSnapshot;
  const trx = await snapshot.execute();
  try {
    yield { kind: 'begin', schema: schemaNumber() };
    for (const table of backupTables) yield* partsOf(trx, table);
    yield { kind: 'end' };
  } finally {
    await trx.rollback().execute();
  }
}

async function* partsOf(db: Kysely<Schema>, table: BackupTable): AsyncGenerator<BackupPart> {
  const digest = new RowDigest();
  for await (const rows of readRows(db, table)) {
    for (const row of rows) digest.add(row);
    yield { kind: 'rows', table: table.name, rows };
  }
  yield { kind: 'table', count: { table: table.name, rows: digest.rows, digest: digest.hex } };
}

/** Tables that are empty in an unused store. */
const tablesInUse = ['api_key', 'audit', 'auth_user', 'usage_minute', 'semi_wallet'] as const;

async function checkUnused(db: Kysely<Schema>, location: string): Promise<void> {
  for (const table of tablesInUse) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length === 0) continue;
    throw new BackupError(
      `${location} is not empty: table ${table} has rows. Choose an empty database, or delete that one first.`,
    );
  }
}

/** Removes rows that migrations inserted, because the backup contains them as well. */
async function clear(db: Kysely<Schema>): Promise<void> {
  for (const { name } of backupTables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(db);
}

async function countOf(db: Kysely<Schema>, name: string): Promise<TableCount> {
  const table = backupTables.find((one) => one.name === name);
  const digest = new RowDigest();
  if (table !== undefined)
    for await (const rows of readRows(db, table)) for (const row of rows) digest.add(row);
  return { table: name, rows: digest.rows, digest: digest.hex };
}

async function checkTable(db: Kysely<Schema>, expected: TableCount): Promise<void> {
  const found = await countOf(db, expected.table);
  if (found.rows === expected.rows && found.digest === expected.digest) return;
  throw new BackupError(
    `table ${expected.table} has ${found.rows} rows or contents that differ from the ${expected.rows} rows of the backup; nothing was changed`,
  );
}

/** Restores a complete backup into an unused store in one transaction and verifies all rows. */
export async function restoreBackup(
  store: Store,
  parts: AsyncIterable<BackupPart>,
  onTable: (count: TableCount) => void = () => undefined,
): Promise<TableCount[]> {
  return store.db.transaction().execute(async (trx) => {
    await checkUnused(trx, store.location);
    await clear(trx);
    const counts: TableCount[] = [];
    let ended = false;
    for await (const part of parts) {
      if (part.kind === 'begin') checkSchema(part.schema);
      else if (part.kind === 'rows') await writeRows(trx, part.table, part.rows);
      else if (part.kind === 'end') ended = true;
      else {
        await checkTable(trx, part.count);
        counts.push(part.count);
        onTable(part.count);
      }
    }
    if (!ended) throw new BackupError('the backup is incomplete');
    return counts;
  });
}

function checkSchema(schema: number): void {
  if (schema === schemaNumber()) return;
  throw new BackupError(
    `The backup has schema ${schema}, but this version has ${schemaNumber()}. Restore it with the version that made it, then update.`,
  );
}

import { type Kysely, sql } from 'kysely';
import { migrations } from '../migrations.ts';
import type { Store } from '../open.ts';
import type { Schema } from '../schema.ts';
import { type Row, RowDigest, readRows, writeRows } from './rows.ts';
import { type BackupTable, backupTables } from './tables.ts';

/** What one table of a backup came to. */
export type TableCount = Readonly<{ table: string; rows: number; digest: string }>;

/** A backup as it comes: the schema's number, pages of rows, and at the end of each table what it came to. */
export type BackupPart = Readonly<
  | { kind: 'begin'; schema: number }
  | { kind: 'rows'; table: string; rows: readonly Row[] }
  | { kind: 'table'; count: TableCount }
  | { kind: 'end' }
>;

/** Why a backup cannot be read or put in; the text says what to do. */
export class BackupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BackupError';
  }
}

/** The number of this program's schema. */
export const schemaNumber = (): number => migrations.at(-1)?.number ?? 0;

/**
 * Everything in a store, as it was at one moment. While it is read nobody else writes to an embedded store; a
 * PostgreSQL server goes on.
 */
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
    // Nothing was written, so there is nothing to keep.
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

/** What stands in a store that somebody used; a new one has none of it. */
const tablesInUse = ['api_key', 'audit', 'auth_user', 'usage_minute', 'semi_wallet'] as const;

/** @throws BackupError when the store has something that would be lost. */
async function checkUnused(db: Kysely<Schema>, location: string): Promise<void> {
  for (const table of tablesInUse) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length === 0) continue;
    throw new BackupError(
      `${location} is in use: its table ${table} has rows. Choose an empty database, or take that one away first`,
    );
  }
}

/** What the migrations put in is in the backup too. */
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

/** @throws BackupError when what stands in the store is not what came. */
async function checkTable(db: Kysely<Schema>, expected: TableCount): Promise<void> {
  const found = await countOf(db, expected.table);
  if (found.rows === expected.rows && found.digest === expected.digest) return;
  throw new BackupError(
    `table ${expected.table} came out differently: ${found.rows} rows in place of ${expected.rows}; nothing was changed`,
  );
}

/**
 * Puts a backup into a store that nobody has used yet, all of it or nothing, and reads every row again to compare.
 * @param parts - of a whole backup: one that ends early is refused.
 * @throws BackupError
 */
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
    if (!ended) throw new BackupError('the backup ends too early: it was not written to its end');
    return counts;
  });
}

/** @throws BackupError */
function checkSchema(schema: number): void {
  if (schema === schemaNumber()) return;
  throw new BackupError(
    `the backup has schema ${schema}, this program has ${schemaNumber()}: restore it with the version that made it, then update`,
  );
}

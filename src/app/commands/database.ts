import { existsSync } from 'node:fs';
import { sql } from 'kysely';
import type { Configuration } from '../../config/configuration.ts';
import { ArgumentsError } from '../../config/errors.ts';
import { type Environment, resolveReference } from '../../config/sources.ts';
import {
  BackupError,
  backupTables,
  restoreBackup,
  schemaNumber,
  type TableCount,
  takeBackup,
} from '../../control/database/backup/backup.ts';
import { readBackupFile, writeBackupFile } from '../../control/database/backup/backup-file.ts';
import { openDatabase } from '../../control/database/open.ts';
import type { Store } from '../../control/database/store.ts';
import { databaseFile } from '../process/data-dir.ts';
import { RUNNING_MS, withStore } from '../store.ts';

export type TableProgress = (count: TableCount) => void;

async function withExistingStore<Result>(
  configuration: Configuration,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const file = databaseFile(configuration.dataDir);
  if (configuration.store.databaseUrl === null && !existsSync(file)) {
    throw new BackupError(`database ${file} does not exist: pass the --config or --data-dir of the service`);
  }
  return withStore(configuration, work);
}

async function factsOf(store: Store) {
  const tables: Omit<TableCount, 'digest'>[] = [];
  for (const { name } of backupTables) {
    const query = sql<{ rows: number }>`select count(*) as rows from ${sql.table(name)}`;
    const { rows } = await query.execute(store.db);
    tables.push({ table: name, rows: Number(rows[0]?.rows ?? 0) });
  }
  return { location: store.location, schema: { found: store.schemaFound, now: schemaNumber() }, tables };
}

export type DatabaseFacts = Awaited<ReturnType<typeof factsOf>>;

/** Upgrades the schema of the database and counts its rows. */
export const migrateDatabase = (configuration: Configuration): Promise<DatabaseFacts> =>
  withStore(configuration, factsOf);

/** @throws BackupError, or an error from the file system or the database driver */
export const backupDatabase = (
  configuration: Configuration,
  file: string,
  onTable: TableProgress,
): Promise<TableCount[]> =>
  withExistingStore(configuration, (store) => writeBackupFile(store, file, onTable));

/** Restores into an unused database. @throws the same errors as `backupDatabase` */
export const restoreDatabase = (
  configuration: Configuration,
  file: string,
  onTable: TableProgress,
): Promise<TableCount[]> =>
  withStore(configuration, async (store) => restoreBackup(store, readBackupFile(file), onTable));

/** While the database is being moved, writes by a running gateway would be lost. */
async function assertNoRunningGateway(store: Store): Promise<void> {
  const newest = await store.db
    .selectFrom('gateway')
    .select((select) => select.fn.max<number | null>('seen_at').as('at'))
    .executeTakeFirst();
  if ((newest?.at ?? 0) < Date.now() - RUNNING_MS) return;
  throw new BackupError('a gateway is using this database: stop it, wait 10 seconds and try again');
}

function targetUrl(to: string, environment: Environment): string {
  const url = resolveReference(to, environment, process.cwd());
  if (/^postgres(?:ql)?:\/\//.test(url)) return url;
  throw new ArgumentsError(
    '--to must be a PostgreSQL URL such as postgres://user@host/database, or env:NAME or file:PATH',
  );
}

/** Copies the database into an unused database and compares every row. @param to - a URL, `env:NAME` or `file:PATH`. */
export async function moveDatabase(
  configuration: Configuration,
  to: string,
  environment: Environment,
  onTable: TableProgress,
): Promise<Readonly<{ place: string; counts: TableCount[] }>> {
  const url = targetUrl(to, environment);
  return withExistingStore(configuration, async (from) => {
    await assertNoRunningGateway(from);
    const target = await openDatabase({ url });
    try {
      return { place: target.location, counts: await restoreBackup(target, takeBackup(from), onTable) };
    } finally {
      await target.close();
    }
  });
}

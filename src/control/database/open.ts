import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import { makeFolder } from '../../base/make-folder.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { migrate } from './migrations.ts';
import { openPostgres, type PostgresOptions, PostgresWatch } from './postgres.ts';
import type { Schema } from './schema.ts';
import { openSqlite } from './sqlite.ts';
import type { Store } from './store.ts';

/** The path no longer leads to the open database file, so changes by other processes would be missed. */
export class StoreReplacedError extends OperatorError {
  constructor(file: string) {
    super(`the database file ${file} was deleted or replaced while in use. Put it back, or restart.`);
    this.name = 'StoreReplacedError';
  }
}

export type OpenOptions = Partial<PostgresOptions> &
  Readonly<{
    /** PostgreSQL URL; overrides `file`. */
    url?: string | null | undefined;
    file?: string | undefined;
    /** SQLite: maximum wait for another process's transaction. */
    lockWaitMs?: number;
    /** Called when an idle PostgreSQL connection breaks. */
    onError?: (error: Error) => void;
  }>;

export const databaseOptions = {
  connectionsMax: 8,
  connectTimeoutMs: 3_000,
  queryTimeoutMs: 10_000,
  hangsAfterMs: 1_000,
  lockWaitMs: 5_000,
} as const;

/** Host and database, without credentials. */
export function describePostgres(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return 'PostgreSQL';
  const host = parsed.host || parsed.searchParams.get('host') || 'localhost';
  return `PostgreSQL ${host}${parsed.pathname}`;
}

function openPostgresStore(url: string, options: OpenOptions): Omit<Store, 'schemaFound'> {
  const limits: PostgresOptions = { ...databaseOptions, ...options };
  const dialect = openPostgres(url, limits, options.onError ?? (() => undefined));
  const db = new Kysely<Schema>({ dialect });
  return {
    dialect: 'postgres',
    db,
    location: describePostgres(url),
    watch: (onChange) => new PostgresWatch(url, limits, onChange),
    checkNotReplaced: () => undefined,
    close: () => db.destroy(),
  };
}

function openSqliteStore(file: string, lockWaitMs: number): Omit<Store, 'schemaFound'> {
  makeFolder(dirname(file), 0o700);
  // Creates the file for its owner only: SQLite would make it world-readable. The WAL inherits the mode of the file.
  closeSync(openSync(file, 'a', 0o600));
  const db = new Kysely<Schema>({ dialect: openSqlite({ file, lockWaitMs }) });
  const opened = statSync(file);
  const checkNotReplaced = (): void => {
    const now = statSync(file, { throwIfNoEntry: false });
    if (now?.ino !== opened.ino || now.dev !== opened.dev) throw new StoreReplacedError(file);
  };
  return { dialect: 'sqlite', db, location: file, watch: null, checkNotReplaced, close: () => db.destroy() };
}

/** Statements of migrations may copy or index large tables, which also slows the probes of the server. */
const migrationLimits = { connectionsMax: 1, queryTimeoutMs: 3_600_000, hangsAfterMs: 15_000 };

/** Returns the schema found. PostgreSQL needs connections without the timeouts of queries. */
async function migrateStore(store: Omit<Store, 'schemaFound'>, options: OpenOptions): Promise<number> {
  if (!options.url) return migrate(store);
  const migrating = openPostgresStore(options.url, { ...options, ...migrationLimits });
  try {
    return await migrate(migrating);
  } finally {
    await migrating.close();
  }
}

/** Opens the control-plane database and migrates it. */
export async function openDatabase(options: OpenOptions): Promise<Store> {
  const store = options.url
    ? openPostgresStore(options.url, options)
    : openSqliteStore(options.file ?? 'solway.db', options.lockWaitMs ?? databaseOptions.lockWaitMs);
  try {
    return { ...store, schemaFound: await migrateStore(store, options) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

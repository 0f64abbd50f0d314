import { setTimeout as delay } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

const LOCK_RETRY_MS = 5;
/** How long SQLite itself waits for a lock. The wait blocks the process. */
const BLOCKING_WAIT_MS = 20;

function isBusy(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/**
 * Takes the write lock at the start of a transaction: SQLite cannot upgrade a read transaction after another
 * connection's write. Unlike SQLite's busy handler, waits for locks without blocking the event loop.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: SqliteDatabase.Database;
  readonly #lockWaitMs: number;

  constructor(database: SqliteDatabase.Database, lockWaitMs: number) {
    super({ database });
    this.#database = database;
    this.#lockWaitMs = lockWaitMs;
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const deadline = Date.now() + this.#lockWaitMs;
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'));
        return;
      } catch (error) {
        if (!isBusy(error) || Date.now() >= deadline) throw error;
      }
      await delay(LOCK_RETRY_MS);
    }
  }

  /** If the disk is full, SQLite has already rolled back. A second rollback would hide the original error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}

/** Opens or creates the file. A commit takes about 0.2 ms. */
export function openSqlite(file: string, lockWaitMs: number): Dialect {
  const database = new SqliteDatabase(file, { timeout: lockWaitMs });
  // May wait for another program that is opening or recovering the file.
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  database.pragma(`busy_timeout = ${BLOCKING_WAIT_MS}`);
  return {
    createDriver: () => new ImmediateDriver(database, lockWaitMs),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

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
/** How long SQLite itself may wait for a lock, which stalls the whole process. */
const BLOCKING_WAIT_MS = 20;

function isBusy(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/**
 * Transactions take the write lock when they begin, so a reader never has to be upgraded (which SQLite refuses
 * when somebody wrote in between). While another process holds the lock this one waits without blocking its
 * event loop, which SQLite's own busy handler would.
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

  /** SQLite itself has rolled back when the disk is full; asked to again, it would hide that with an error. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.inTransaction) await super.rollbackTransaction(connection);
  }
}

/**
 * Opens the file, making it when absent: WAL, and a commit is on the disk before it is acknowledged
 * (synchronous FULL; see the measurements of commit time, 0.2 ms).
 * @param lockWaitMs - how long a transaction waits for another process to finish its own.
 */
export function openSqlite(file: string, lockWaitMs: number): Dialect {
  const database = new SqliteDatabase(file, { timeout: lockWaitMs });
  // May have to wait for another program that opens it too, or mends it after a crash.
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

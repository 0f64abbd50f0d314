import { parentPort, workerData } from 'node:worker_threads';
import SqliteDatabase from 'better-sqlite3';
import type { QueryResult } from 'kysely';
import type { SqliteOptions, ThreadRequest, ThreadResponse } from './sqlite.ts';

/** Entry point of the database thread: executes the statements that it receives, in order. */

const { file, lockWaitMs } = workerData as SqliteOptions;
const database = new SqliteDatabase(file, { timeout: lockWaitMs });
// May wait for another program that is opening or recovering the file.
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.pragma('foreign_keys = ON');

function execute(sql: string, parameters: readonly unknown[]): QueryResult<unknown> {
  // If the disk is full, SQLite has already rolled back. A second rollback would hide the original error.
  if (sql === 'rollback' && !database.inTransaction) return { rows: [] };
  const statement = database.prepare(sql);
  if (statement.reader) return { rows: statement.all(parameters) };
  const { changes, lastInsertRowid } = statement.run(parameters);
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
}

function respondTo(request: ThreadRequest): ThreadResponse {
  try {
    return { result: execute(request.sql, request.parameters) };
  } catch (error) {
    return { error: error as Error, code: (error as NodeJS.ErrnoException).code };
  }
}

parentPort!.on('message', (request: ThreadRequest | null) => {
  if (request !== null) return parentPort!.postMessage(respondTo(request));
  database.close();
  parentPort!.close();
});

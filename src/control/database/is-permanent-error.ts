import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';

/** Classes of SQLSTATE: data exceptions, violated constraints, exceeded limits of the program. */
const POSTGRES_PERMANENT = /^(22|23|54)/;
const SQLITE_PERMANENT = /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/;

/**
 * Whether the database was there and would not take a row because of what stands in it: the same row will never be
 * taken. Source: appendix A of PostgreSQL's manual; result codes of SQLite.
 */
export function isPermanentError(error: unknown): boolean {
  if (error instanceof SqliteDatabase.SqliteError) return SQLITE_PERMANENT.test(error.code);
  if (error instanceof pg.DatabaseError) return POSTGRES_PERMANENT.test(error.code ?? '');
  // What the driver of SQLite cannot bind.
  return error instanceof TypeError || error instanceof RangeError;
}

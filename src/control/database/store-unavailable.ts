import SqliteDatabase from 'better-sqlite3';
import pg from 'pg';

/** What sockets and name servers say, and node's own word for several of these at once. */
const socketCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
]);
/** Connection exceptions, too many connections, shutting down, starting, took too long. Source: PostgreSQL, Appendix A. */
const SQL_STATE = /^(?:08...|53300|57P0[1-3]|57014)$/;
/** What pg says without a code. Source: pg 8, client.js and pg-pool. */
const driverTexts = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Query read timeout',
  'Client has encountered a connection error',
] as const;
const CAUSES_MAX = 5;

/** The server takes connections and questions, and answers none. */
export class StoreHangsError extends Error {
  constructor() {
    super(
      'PostgreSQL does not answer, not even something small: look whether it hangs, and at the way to it',
    );
    this.name = 'StoreHangsError';
  }
}

/** Whether an error says that the store cannot be reached, or does not answer in time. */
export function isStoreUnavailable(error: unknown): boolean {
  let at: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && at instanceof Error; depth++) {
    if (at instanceof StoreHangsError) return true;
    const { code, syscall } = at as { code?: unknown; syscall?: unknown };
    if (typeof code === 'string' && (socketCodes.has(code) || SQL_STATE.test(code))) return true;
    // A socket of PostgreSQL on this machine that is gone.
    if (code === 'ENOENT' && syscall === 'connect') return true;
    const { message } = at;
    if (driverTexts.some((text) => message.startsWith(text))) return true;
    at = at.cause;
  }
  return false;
}

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

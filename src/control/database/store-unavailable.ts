import pg from 'pg';
import { OperatorError } from '../../base/operator-error.ts';

const socketCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EAI_AGAIN'],
]);
/** Connection exceptions, too many connections, shutdown, startup and timeout. Source: PostgreSQL, Appendix A. */
const SQL_STATE = /^(?:08...|53300|57P0[1-3]|57014)$/;
/** Messages of errors that have no code. Sources: pg 8, client.js and pg-pool; sqlite.ts. */
const driverTexts = [
  'the database thread ended',
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Query read timeout',
  'Client has encountered a connection error',
] as const;
const CAUSES_MAX = 5;

/** The server does not respond in time, even to a small query. */
export class StoreHangsError extends OperatorError {
  constructor() {
    super(
      'PostgreSQL does not respond even to a small query. Check whether the server hangs, and the network',
    );
    this.name = 'StoreHangsError';
  }
}

/** True if the store is unreachable or does not respond in time. */
export function isStoreUnavailable(error: unknown): boolean {
  let current: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && current instanceof Error; depth++) {
    if (current instanceof StoreHangsError) return true;
    const { code, syscall } = current as { code?: unknown; syscall?: unknown };
    if (typeof code === 'string' && (socketCodes.has(code) || SQL_STATE.test(code))) return true;
    // For example, the Unix socket does not exist (ENOENT), or its queue is full (EAGAIN).
    if (syscall === 'connect') return true;
    const { message } = current;
    if (driverTexts.some((text) => message.startsWith(text))) return true;
    current = current.cause;
  }
  return false;
}

/** SQLSTATE classes: data exceptions, constraint violations and exceeded program limits. */
const POSTGRES_PERMANENT = /^(22|23|54)/;
const SQLITE_PERMANENT = /^SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG)/;

/** True if the database rejected a row because of its content. Sources: PostgreSQL, Appendix A; SQLite result codes. */
export function isPermanentError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  if (error instanceof pg.DatabaseError) return POSTGRES_PERMANENT.test(error.code ?? '');
  if (typeof code === 'string' && SQLITE_PERMANENT.test(code)) return true;
  // The SQLite driver throws these errors for values that it cannot bind.
  return error instanceof TypeError || error instanceof RangeError;
}

import { redact } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import { ArgumentsError, ConfigurationError, SecretReferenceError, showUrl } from '../config/errors.ts';
import { ApiError } from '../control/api/api-error.ts';
import { isClickHouseError } from '../control/clickhouse/client.ts';

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'connection refused: check that PostgreSQL is running, and the host and port of store.database_url',
  ENOTFOUND: 'unknown host in store.database_url: check its name',
  ETIMEDOUT: 'no response: check the host in store.database_url and the firewall rules',
  EROFS: 'the file system of data_dir is read-only: choose another data_dir',
  ENOSPC: 'the disk of data_dir is full: free some space',
  ENOENT: 'no such file or folder: create it or correct the path',
  ENOTDIR: 'a parent of data_dir is a file: choose another data_dir',
  EEXIST: 'data_dir is a file: choose another data_dir',
  SQLITE_CANTOPEN: 'the database file cannot be opened: check the permissions of data_dir',
  SQLITE_BUSY: 'another program has locked the database: wait for it to finish',
  SQLITE_CORRUPT: 'the database file is corrupt: restore a backup',
  SQLITE_NOTADB: 'the file is not an SQLite database: check data_dir, or restore a backup',
  SQLITE_FULL: 'the disk of data_dir is full: free some space',
  SQLITE_READONLY: 'this user has no write permission for the database: change the owner of data_dir',
  '28P01': 'PostgreSQL rejected the password: correct store.database_url',
  '28000': 'PostgreSQL rejected the user: correct store.database_url or pg_hba.conf',
  '3D000': 'the database does not exist: create it with createdb, or correct store.database_url',
  '42501': 'the user may not create tables: grant it CREATE on the schema',
  '57P01': 'PostgreSQL was shut down: start it again',
  '57P03': 'PostgreSQL is starting or shutting down: wait a moment',
  '53300': 'PostgreSQL has no free connections: raise max_connections',
};

const clickHouseRemedies: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'connection refused: check that ClickHouse is running, and the host and port of store.clickhouse_url',
  ENOTFOUND: 'unknown host in store.clickhouse_url: check its name',
  ETIMEDOUT: 'no response: check ClickHouse, the host in store.clickhouse_url and the firewall rules',
};

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return code;
  // Connecting to every address of the host failed; the first error is enough.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return '';
}

const CONNECTION_LOST = 'connection to PostgreSQL lost: check that it is running';

/** Whether the error means that the command line is wrong. */
export function isArgumentsError(error: unknown): error is Error {
  if (error instanceof ArgumentsError) return true;
  // The bad reference was in an argument: in the configuration, it would have caused a ConfigurationError.
  if (error instanceof SecretReferenceError) return true;
  // NODE_NOT_FIT: the node failed its check, but the arguments are valid.
  if (error instanceof ApiError) return error.status === 422 && error.code !== 'NODE_NOT_FIT';
  return error instanceof ConfigurationError && error.problems.every(({ source }) => source.startsWith('--'));
}

function permissionProblem(error: unknown): string | null {
  const { code, path, dest } = error as NodeJS.ErrnoException & { dest?: string };
  if ((code !== 'EACCES' && code !== 'EPERM') || typeof path !== 'string') return null;
  const user = process.getuid === undefined ? 'this user' : `this user (uid ${process.getuid()})`;
  const remedy = 'change its owner or permissions, or configure another path';
  return `${user} has no permission for ${dest ?? path}: ${remedy} (${code})`;
}

function clickHouseRemedyOf(error: unknown): string | null {
  const code = codeOf(error);
  const remedy = clickHouseRemedies[code];
  if (remedy !== undefined) return `${remedy} (${code})`;
  const { message } = error as Error;
  if (message.startsWith('socket hang up')) return 'connection to ClickHouse lost: check that it is running';
  return /timeout/i.test(message) ? clickHouseRemedies.ETIMEDOUT! : null;
}

function remedyOf(error: unknown): string | null {
  if (isClickHouseError(error)) return clickHouseRemedyOf(error);
  const code = codeOf(error);
  const { syscall } = error as { syscall?: unknown };
  // PostgreSQL's Unix socket does not exist, or its queue is full.
  if (syscall === 'connect' && (code === 'ENOENT' || code === 'EAGAIN')) return `${remedies.ECONNREFUSED} (${code})`;
  // Extended SQLite codes have a suffix, such as SQLITE_BUSY_SNAPSHOT.
  const remedy = remedies[code] ?? remedies[code.split('_').slice(0, 2).join('_')];
  const { path } = error as NodeJS.ErrnoException;
  const prefix = typeof path === 'string' ? `${path}: ` : '';
  if (remedy !== undefined) return `${prefix}${remedy} (${code})`;
  const message = error instanceof Error ? error.message : '';
  if (message.startsWith('Connection terminated')) return CONNECTION_LOST;
  return /timeout/i.test(message) ? remedies.ETIMEDOUT! : null;
}

function cleanMessage(error: unknown): string {
  const message = error instanceof Error ? error.message : 'no message';
  return redact(message.replace(/[a-z][a-z0-9+.-]*:\/\/[^\s"']+/gi, showUrl));
}

/** Error text for `solway localnet`: remedies name command-line options, not configuration options. */
export function ledgerErrorText(error: unknown): string {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST' && syscall === 'mkdir')
    return `${path} is not a folder: choose another with --ledger`;
  return permissionProblem(error) ?? cleanMessage(error);
}

/** Error text for operators. Solway's own errors contain a remedy; known system errors get a remedy by error code. */
export function errorText(error: unknown): string {
  if (error instanceof OperatorError)
    return error.cause === undefined ? error.message : `${error.message}: ${cleanMessage(error.cause)}`;
  return permissionProblem(error) ?? remedyOf(error) ?? `unexpected failure: ${cleanMessage(error)}`;
}

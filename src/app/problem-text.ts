import { SchemaTooNewError } from '../control/database/migrate.ts';
import { KeyRefusedError } from '../control/key-register.ts';
import { PepperError } from '../control/pepper.ts';
import { ConfigurationError } from './configuration-errors.ts';

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: check that PostgreSQL runs and the host and port of database_url',
  ENOTFOUND: 'the host of database_url is unknown: check its name',
  ETIMEDOUT: 'it does not answer: check the host of database_url and the firewalls between',
  EACCES: 'this user may not write there: change the owner of data_dir or choose another',
  EROFS: 'the disk of data_dir is read-only: choose another data_dir',
  ENOSPC: 'the disk of data_dir is full: make room',
  ENOTDIR: 'a part of the path of data_dir is a file: choose another data_dir',
  EEXIST: 'data_dir is a file: choose another data_dir',
  SQLITE_CANTOPEN: 'the database file cannot be opened: check the rights of data_dir',
  SQLITE_BUSY: 'another program holds the database: wait for it to finish',
  SQLITE_CORRUPT: 'the database file is damaged: put back a copy of it',
  SQLITE_NOTADB: 'the file is no database: take it away or put back a copy',
  SQLITE_FULL: 'the disk of data_dir is full: make room',
  SQLITE_READONLY: 'this user may not write the database: change the owner of data_dir',
  '28P01': 'PostgreSQL refuses the password: correct it in database_url',
  '28000': 'PostgreSQL refuses the user: correct database_url or pg_hba.conf',
  '3D000': 'there is no such database: make it with createdb, or correct database_url',
  '42501': 'the user may not make tables: grant it create on the schema',
  '53300': 'PostgreSQL has no connection left: raise max_connections',
};

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return code;
  // Several addresses of one host were tried; what one of them said will do.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return '';
}

const ownErrors = [ConfigurationError, KeyRefusedError, PepperError, SchemaTooNewError];

/**
 * What went wrong in words for a person, with what to do about it: our own errors say it themselves; of all
 * others only the code is told, because their messages may quote what is secret.
 */
export function problemText(error: unknown): string {
  if (ownErrors.some((type) => error instanceof type)) return (error as Error).message;
  const code = codeOf(error);
  const remedy = remedies[code] ?? remedies[code.split('_').slice(0, 2).join('_')];
  if (remedy !== undefined) return `${remedy} (${code})`;
  const timedOut = error instanceof Error && /timeout/i.test(error.message);
  return timedOut ? remedies.ETIMEDOUT! : `unexpected failure${code === '' ? '' : ` (${code})`}`;
}

import { type Dialect, PostgresDialect } from 'kysely';
import pg from 'pg';

const INT8 = 20;
const APPLICATION_NAME = 'solway';

/** What a PostgreSQL store may take. The defaults stand in open.ts. */
export type PostgresOptions = Readonly<{
  connectionsMax: number;
  connectTimeoutMs: number;
  queryTimeoutMs: number;
}>;

function integerFromText(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('an integer of the database is beyond 2^53');
  return value;
}

/** SQLite hands 64-bit integers over as numbers; pg would hand over strings. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary'
      ? integerFromText
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

function clientConfig(url: string, options: PostgresOptions): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    types,
  };
}

/** A pool for queries. `onError` hears of idle connections that broke; the pool replaces them by itself. */
export function openPostgres(
  url: string,
  options: PostgresOptions,
  onError: (error: Error) => void,
): Dialect {
  const pool = new pg.Pool({
    ...clientConfig(url, options),
    max: options.connectionsMax,
    statement_timeout: options.queryTimeoutMs,
    query_timeout: options.queryTimeoutMs + 1_000,
  });
  pool.on('error', onError);
  // A connection in use reports its end twice: to the query, which rejects, and as an event, which without a
  // listener would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new PostgresDialect({ pool });
}

/** A connection of its own, not yet connected, for LISTEN. */
export function postgresListener(url: string, options: PostgresOptions): pg.Client {
  return new pg.Client(clientConfig(url, options));
}

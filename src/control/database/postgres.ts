import type { Socket } from 'node:net';
import {
  type Dialect,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import { isServerError, PostgresLiveness } from './postgres-liveness.ts';
import { PostgresWatch } from './postgres-watch.ts';
import { StoreHangsError } from './store-unavailable.ts';

const INT8 = 20;
const APPLICATION_NAME = 'solway';

/** What a PostgreSQL store may take. The defaults stand in open.ts. */
export type PostgresOptions = Readonly<{
  connectionsMax: number;
  connectTimeoutMs: number;
  queryTimeoutMs: number;
  /** After which of no answer the server is looked at, and how long that look may take until it counts as away. */
  hangsAfterMs: number;
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
  const connectProbe = (timeoutMs: number): pg.Client =>
    new pg.Client({
      ...clientConfig(url, { ...options, connectTimeoutMs: timeoutMs }),
      query_timeout: timeoutMs,
    });
  return new PostgresDialect({
    pool: watchPool(pool, new PostgresLiveness(connectProbe, options.hangsAfterMs)),
  });
}

/**
 * A connection of the pool that is given up when the server is found to hang under one of its queries, and when one
 * ends without an answer of the server's: it may have fallen silent while others do well.
 */
class WatchedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #liveness: PostgresLiveness;
  /** What was thrown when it was given up: that is told to whoever would undo what they began, too. */
  #lostError: unknown = null;

  constructor(client: pg.PoolClient, liveness: PostgresLiveness) {
    this.#client = client;
    this.#liveness = liveness;
  }

  query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(given: string | PostgresCursor<Row>, parameters: readonly unknown[] = []) {
    const client: PostgresPoolClient = this.#client;
    if (typeof given !== 'string') return client.query(given);
    if (this.#lostError !== null) return Promise.reject(this.#lostError);
    return this.#liveness.guard(client.query<Row>(given, parameters)).catch((error: unknown) => {
      if (!isServerError(error)) this.#lostError ??= error;
      throw error;
    });
  }

  release(isDiscarded = false): void {
    this.#client.release(isDiscarded || this.#lostError !== null);
  }
}

/** A pool whose queries end when the server is found to hang, and whose connection is given up then. */
const watchPool = (pool: pg.Pool, liveness: PostgresLiveness): PostgresPool => ({
  options: pool.options,
  async connect() {
    const connecting = pool.connect();
    const client = await liveness.guard(connecting).catch((error: unknown) => {
      // It may come after all, and would be nobody's.
      if (error instanceof StoreHangsError)
        connecting.then(
          (late) => late.release(),
          () => undefined,
        );
      throw error;
    });
    return new WatchedClient(client, liveness);
  },
  end: () => pool.end(),
});

/** A connection of its own to look for changes over, and to hear of them. It is late when a query would be looked at. */
export function watchPostgres(url: string, options: PostgresOptions, onChange: () => void): PostgresWatch {
  const { connectTimeoutMs, hangsAfterMs, queryTimeoutMs } = options;
  const open = (socket: Socket): pg.Client =>
    new pg.Client({
      ...clientConfig(url, options),
      statement_timeout: queryTimeoutMs,
      query_timeout: queryTimeoutMs + 1_000,
      stream: () => socket,
    });
  return new PostgresWatch(open, { connectTimeoutMs, lateMs: hangsAfterMs }, onChange);
}

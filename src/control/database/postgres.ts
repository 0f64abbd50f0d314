import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Dialect,
  Kysely,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import pg from 'pg';
import type { Schema } from './schema.ts';
import { CHANGE_CHANNEL, type StoreWatch } from './store.ts';
import { StoreHangsError } from './store-unavailable.ts';

export type PostgresOptions = Readonly<{
  connectionsMax: number;
  connectTimeoutMs: number;
  queryTimeoutMs: number;
  /** Milliseconds that a query may take before the server is probed; also the timeout of the probe. */
  hangsAfterMs: number;
}>;

/** An error from the server proves that the server and the connection work. */
const isServerError = (error: unknown): boolean => error instanceof pg.DatabaseError;

/** Probes the server on a separate connection while a query is slow. The query continues if the server responds. */
class PostgresLiveness {
  readonly #url: string;
  readonly #hangsAfterMs: number;
  #runningProbe: Promise<boolean> | null = null;
  /** After a failed probe, later queries start a probe at once. */
  #isHanging = false;

  constructor(url: string, hangsAfterMs: number) {
    this.#url = url;
    this.#hangsAfterMs = hangsAfterMs;
  }

  /** @throws StoreHangsError if the server hangs; otherwise any error from `work` */
  async guard<Result>(work: Promise<Result>): Promise<Result> {
    const { promise: hung, reject } = Promise.withResolvers<never>();
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const probeAfter = (ms: number): void => {
      timer = setTimeout(async () => {
        if (await this.#isHung()) reject(new StoreHangsError());
        else if (!isOver) probeAfter(this.#hangsAfterMs);
      }, ms);
    };
    probeAfter(this.#isHanging ? 0 : this.#hangsAfterMs);
    try {
      return await Promise.race([work, hung]);
    } finally {
      isOver = true;
      clearTimeout(timer);
    }
  }

  /** All waiting queries share one probe. */
  #isHung(): Promise<boolean> {
    this.#runningProbe ??= this.#probe().then((hangs) => {
      this.#runningProbe = null;
      this.#isHanging = hangs;
      return hangs;
    });
    return this.#runningProbe;
  }

  async #probe(): Promise<boolean> {
    const timeoutMs = this.#hangsAfterMs;
    const client = new pg.Client({ ...clientConfig(this.#url, timeoutMs), query_timeout: timeoutMs });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('select 1');
      return false;
    } catch (error) {
      return !isServerError(error);
    } finally {
      client.end().catch(() => undefined);
    }
  }
}

/** Minimum interval between attempts to connect to a server that drops connections. */
const CONNECT_INTERVAL_MS = 500;

/** A connection and its socket. Destroying the socket ends any pending operation. */
type WatchConnection = { socket: Socket; ready: Promise<pg.Client>; isListening: boolean };

/**
 * A lazily opened connection for LISTEN and polls, independent of the pool. The regular polls detect a dead
 * connection, such as one dropped by a firewall.
 */
export class PostgresWatch implements StoreWatch {
  readonly db: Kysely<Schema>;
  readonly #url: string;
  readonly #options: PostgresOptions;
  readonly #onChange: () => void;
  #connection: WatchConnection | null = null;
  #connectAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(url: string, options: PostgresOptions, onChange: () => void) {
    this.#url = url;
    this.#options = options;
    this.#onChange = onChange;
    const pool: PostgresPool = { options: {}, connect: () => this.#connect(), end: async () => undefined };
    this.db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  }

  async withDeadline<Result>(query: () => Promise<Result>, patience = 1): Promise<Result> {
    this.#connection ??= this.#openConnection();
    const connection = this.#connection;
    await connection.ready;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new StoreHangsError());
      this.#dropConnection(connection);
    }, this.#options.hangsAfterMs * patience);
    try {
      return await Promise.race([query(), promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#connection !== null) this.#dropConnection(this.#connection);
    await this.db.destroy();
  }

  async #connect(): Promise<PostgresPoolClient> {
    this.#connection ??= this.#openConnection();
    const connection = this.#connection;
    const client = await connection.ready;
    const query = (text: string, parameters: unknown[] = []) =>
      client.query(text, parameters).catch((error: unknown) => {
        if (!isServerError(error)) this.#dropConnection(connection);
        throw error;
      });
    return { query: query as unknown as PostgresPoolClient['query'], release: () => undefined };
  }

  #openConnection(): WatchConnection {
    const socket = new Socket();
    const client = new pg.Client({
      ...clientConfig(this.#url, this.#options.connectTimeoutMs),
      ...queryTimeouts(this.#options),
      stream: () => socket,
    });
    const { promise: ready, resolve } = Promise.withResolvers<pg.Client>();
    const connection: WatchConnection = { socket, ready, isListening: false };
    client.on('notification', () => this.#onChange());
    client.on('error', () => this.#dropConnection(connection));
    client.on('end', () => this.#dropConnection(connection));
    resolve(this.#connectClient(connection, client));
    ready.catch(() => this.#dropConnection(connection));
    return connection;
  }

  async #connectClient(connection: WatchConnection, client: pg.Client): Promise<pg.Client> {
    const now = performance.now();
    const pauseMs = Math.max(0, this.#connectAt - now);
    this.#connectAt = now + pauseMs + CONNECT_INTERVAL_MS;
    if (pauseMs > 0) await delay(pauseMs);
    if (this.#isClosed || connection.socket.destroyed) throw new Error('Connection terminated');
    const end = (): unknown => connection.socket.destroy();
    const timers = [
      // Gives up early, to allow a new attempt: TCP retransmits a lost SYN only after a second or more.
      setTimeout(() => connection.socket.connecting && end(), this.#options.hangsAfterMs),
      setTimeout(end, this.#options.connectTimeoutMs),
    ];
    try {
      await client.connect();
      await this.#listen(connection, client);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
    return client;
  }

  async #listen(connection: WatchConnection, client: pg.Client): Promise<void> {
    try {
      await client.query(`listen ${CHANGE_CHANNEL}`);
      connection.isListening = true;
    } catch (error) {
      // Connection poolers may not support LISTEN. Polling still finds changes.
      if (!isServerError(error)) throw error;
    }
  }

  #dropConnection(connection: WatchConnection): void {
    connection.socket.destroy();
    if (this.#connection !== connection) return;
    this.#connection = null;
    // The server may be down, or notifications may have been missed: trigger a poll now.
    if (connection.isListening && !this.#isClosed) this.#onChange();
  }
}

const INT8 = 20;

function integerFromText(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('a database integer exceeds 2^53');
  return value;
}

/** Parses 64-bit integers as numbers instead of strings, as the SQLite driver does. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary'
      ? integerFromText
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

const clientConfig = (url: string, connectTimeoutMs: number): pg.ClientConfig => ({
  connectionString: url,
  application_name: 'solway',
  connectionTimeoutMillis: connectTimeoutMs,
  keepAlive: true,
  types,
});

const queryTimeouts = ({ queryTimeoutMs }: PostgresOptions): pg.ClientConfig => ({
  statement_timeout: queryTimeoutMs,
  query_timeout: queryTimeoutMs + 1_000,
});

export function openPostgres(
  url: string,
  options: PostgresOptions,
  onError: (error: Error) => void,
): Dialect {
  const pool = new pg.Pool({
    ...clientConfig(url, options.connectTimeoutMs),
    ...queryTimeouts(options),
    max: options.connectionsMax,
  });
  pool.on('error', onError);
  // A broken connection also emits an error event; without a listener, that would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const liveness = new PostgresLiveness(url, options.hangsAfterMs);
  return new PostgresDialect({ pool: watchPool(pool, liveness) });
}

/** A pool connection that is discarded after a query ends without a response from the server. */
class WatchedClient implements PostgresPoolClient {
  readonly #client: pg.PoolClient;
  readonly #liveness: PostgresLiveness;
  /** The error that broke the connection. Later queries, such as a rollback, fail with the same error. */
  #lostError: unknown = null;

  constructor(client: pg.PoolClient, liveness: PostgresLiveness) {
    this.#client = client;
    this.#liveness = liveness;
  }

  query<Row>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(statement: string | PostgresCursor<Row>, parameters: readonly unknown[] = []) {
    const client: PostgresPoolClient = this.#client;
    if (typeof statement !== 'string') return client.query(statement);
    if (this.#lostError !== null) return Promise.reject(this.#lostError);
    return this.#liveness.guard(client.query<Row>(statement, parameters)).catch((error: unknown) => {
      if (!isServerError(error)) this.#lostError ??= error;
      throw error;
    });
  }

  release(isDiscarded = false): void {
    this.#client.release(isDiscarded || this.#lostError !== null);
  }
}

const watchPool = (pool: pg.Pool, liveness: PostgresLiveness): PostgresPool => ({
  options: pool.options,
  async connect() {
    const connecting = pool.connect();
    try {
      return new WatchedClient(await liveness.guard(connecting), liveness);
    } catch (error) {
      // Otherwise, a connection that arrives late would leak.
      connecting.then((late) => late.release()).catch(() => undefined);
      throw error;
    }
  },
  end: () => pool.end(),
});

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
import { StoreHangsError } from './store-unavailable.ts';
import { CHANGE_CHANNEL, type StoreWatch } from './store-watch.ts';

/** A connection of its own that has so long to be made, and so long to answer. */
type Connect = (timeoutMs: number) => pg.Client;

/** Whether an error is an answer of the server's, which then lives, as does the connection that it came over. */
const isServerError = (error: unknown): boolean => error instanceof pg.DatabaseError;

/**
 * Tells a PostgreSQL server that hangs from one that is busy with what it was asked: work that takes long makes it look
 * whether a small question on a connection of its own is answered. Work of a busy server goes on.
 */
class PostgresLiveness {
  readonly #connect: Connect;
  readonly #hangsAfterMs: number;
  #runningProbe: Promise<boolean> | null = null;
  /** Whether the last look found that it hangs: the next work is not given the time that was waited already. */
  #isHanging = false;

  /** @param hangsAfterMs - after which it is looked, and which the look may take. */
  constructor(connect: Connect, hangsAfterMs: number) {
    this.#connect = connect;
    this.#hangsAfterMs = hangsAfterMs;
  }

  /** Waits for work of the server. @throws StoreHangsError while it hangs; what the work throws. */
  guard<Result>(work: Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let timer: NodeJS.Timeout | null = null;
    const probeAfter = (ms: number): void => {
      timer = setTimeout(() => {
        void this.#isHung().then((hangs) => {
          if (hangs) reject(new StoreHangsError());
          else if (timer !== null) probeAfter(this.#hangsAfterMs);
        });
      }, ms);
    };
    probeAfter(this.#isHanging ? 0 : this.#hangsAfterMs);
    const end = (): void => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    };
    work.then(resolve, reject).finally(end);
    return promise.finally(end);
  }

  /** One look for all that wait. */
  #isHung(): Promise<boolean> {
    this.#runningProbe ??= this.#probe().then((hangs) => {
      this.#runningProbe = null;
      this.#isHanging = hangs;
      return hangs;
    });
    return this.#runningProbe;
  }

  async #probe(): Promise<boolean> {
    const client = this.#connect(this.#hangsAfterMs);
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

/** A server that takes connections and drops them must not keep us connecting without pause. */
const CONNECT_INTERVAL_MS = 500;

/** A connection that is made or being made, with the socket that ends it whatever it waits for. */
type WatchConnection = { socket: Socket; ready: Promise<pg.Client>; isListening: boolean };

type WatchTimeouts = Readonly<{
  /** How long a connection may take to be made, in milliseconds: of a distant server many times what an answer takes. */
  connectTimeoutMs: number;
  /** Milliseconds after which what `soon` waits for is late. */
  lateMs: number;
}>;

/** Makes a client, not yet connected, over this socket. */
type OpenClient = (socket: Socket) => pg.Client;

/**
 * One connection that looks for changes and hears of them (LISTEN), made when it is needed. That it is asked again and
 * again, each time for little, tells when it fell silent, which neither side need notice otherwise: what lies between
 * them may have forgotten it.
 */
class PostgresWatch implements StoreWatch {
  readonly db: Kysely<Schema>;
  readonly #open: OpenClient;
  readonly #connectTimeoutMs: number;
  readonly #lateMs: number;
  readonly #onChange: () => void;
  #connection: WatchConnection | null = null;
  #connectAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(open: OpenClient, { connectTimeoutMs, lateMs }: WatchTimeouts, onChange: () => void) {
    this.#open = open;
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#lateMs = lateMs;
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
    }, this.#lateMs * patience);
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
    const client = this.#open(socket);
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
      // A first packet that is lost is sent again after a second, and then after ever more.
      setTimeout(() => connection.socket.connecting && end(), this.#lateMs),
      setTimeout(end, this.#connectTimeoutMs),
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
      // Poolers may refuse it: changes are found by looking then.
      if (!isServerError(error)) throw error;
    }
  }

  #dropConnection(connection: WatchConnection): void {
    connection.socket.destroy();
    if (this.#connection !== connection) return;
    this.#connection = null;
    // The server may be gone, and announcements are: whoever looks now learns it at once instead of at the next look.
    if (connection.isListening && !this.#isClosed) this.#onChange();
  }
}

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

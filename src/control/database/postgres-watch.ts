import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { isServerError } from './postgres-liveness.ts';
import type { Schema } from './schema.ts';
import { StoreHangsError } from './store-unavailable.ts';
import { CHANGE_CHANNEL, type StoreWatch } from './store-watch.ts';

/** A server that takes connections and drops them must not keep us connecting without pause. */
const CONNECT_INTERVAL_MS = 500;

/** A connection that is made or being made, with the socket that ends it whatever it waits for. */
type WatchConnection = { socket: Socket; ready: Promise<pg.Client>; isListening: boolean };

export type WatchTimeouts = Readonly<{
  /** How long a connection may take to be made, in milliseconds: of a distant server many times what an answer takes. */
  connectTimeoutMs: number;
  /** Milliseconds after which what `soon` waits for is late. */
  lateMs: number;
}>;

/** Makes a client, not yet connected, over this socket. */
export type OpenClient = (socket: Socket) => pg.Client;

/**
 * One connection that looks for changes and hears of them (LISTEN), made when it is needed. That it is asked again and
 * again, each time for little, tells when it fell silent, which neither side need notice otherwise: what lies between
 * them may have forgotten it.
 */
export class PostgresWatch implements StoreWatch {
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

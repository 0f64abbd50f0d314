import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { isOfServer } from './postgres-pulse.ts';
import type { Schema } from './schema.ts';
import { StoreHangsError } from './store-away.ts';
import { CHANGE_CHANNEL, type StoreWatch } from './store-watch.ts';

/** A server that takes connections and drops them must not keep us connecting without pause. */
const CONNECT_INTERVAL_MS = 500;

/** A connection that is made or being made, with the socket that ends it whatever it waits for. */
type Line = { socket: Socket; ready: Promise<pg.Client>; isListening: boolean };

export type WatchTimes = Readonly<{
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
  #line: Line | null = null;
  #connectAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(open: OpenClient, { connectTimeoutMs, lateMs }: WatchTimes, onChange: () => void) {
    this.#open = open;
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#lateMs = lateMs;
    this.#onChange = onChange;
    const pool: PostgresPool = { options: {}, connect: () => this.#connect(), end: async () => undefined };
    this.db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  }

  async soon<Result>(ask: () => Promise<Result>, patience = 1): Promise<Result> {
    this.#line ??= this.#newLine();
    const line = this.#line;
    await line.ready;
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new StoreHangsError());
      this.#lose(line);
    }, this.#lateMs * patience);
    try {
      return await Promise.race([ask(), promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#line !== null) this.#lose(this.#line);
    await this.db.destroy();
  }

  async #connect(): Promise<PostgresPoolClient> {
    this.#line ??= this.#newLine();
    const line = this.#line;
    const client = await line.ready;
    const query = (text: string, parameters: unknown[] = []) =>
      client.query(text, parameters).catch((error: unknown) => {
        if (!isOfServer(error)) this.#lose(line);
        throw error;
      });
    return { query: query as unknown as PostgresPoolClient['query'], release: () => undefined };
  }

  #newLine(): Line {
    const socket = new Socket();
    const client = this.#open(socket);
    const { promise: ready, resolve } = Promise.withResolvers<pg.Client>();
    const line: Line = { socket, ready, isListening: false };
    client.on('notification', () => this.#onChange());
    client.on('error', () => this.#lose(line));
    client.on('end', () => this.#lose(line));
    resolve(this.#begin(line, client));
    ready.catch(() => this.#lose(line));
    return line;
  }

  async #begin(line: Line, client: pg.Client): Promise<pg.Client> {
    const now = performance.now();
    const pauseMs = Math.max(0, this.#connectAt - now);
    this.#connectAt = now + pauseMs + CONNECT_INTERVAL_MS;
    if (pauseMs > 0) await delay(pauseMs);
    if (this.#isClosed || line.socket.destroyed) throw new Error('Connection terminated');
    const end = (): unknown => line.socket.destroy();
    const timers = [
      // A first packet that is lost is sent again after a second, and then after ever more.
      setTimeout(() => line.socket.connecting && end(), this.#lateMs),
      setTimeout(end, this.#connectTimeoutMs),
    ];
    try {
      await client.connect();
      await this.#listen(line, client);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
    return client;
  }

  async #listen(line: Line, client: pg.Client): Promise<void> {
    try {
      await client.query(`listen ${CHANGE_CHANNEL}`);
      line.isListening = true;
    } catch (error) {
      // Poolers may refuse it: changes are found by looking then.
      if (!isOfServer(error)) throw error;
    }
  }

  #lose(line: Line): void {
    line.socket.destroy();
    if (this.#line !== line) return;
    this.#line = null;
    // The server may be gone, and announcements are: whoever looks now learns it at once instead of at the next look.
    if (line.isListening && !this.#isClosed) this.#onChange();
  }
}

import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

export type SqliteOptions = Readonly<{
  file: string;
  /** Maximum wait for another process's transaction. */
  lockWaitMs: number;
}>;

export type ThreadRequest = Readonly<{ sql: string; parameters: readonly unknown[] }>;

/** The code is separate because copying an error between threads drops its own properties. */
export type ThreadResponse =
  | Readonly<{ result: QueryResult<unknown> }>
  | Readonly<{ error: Error; code: string | undefined }>;

/** Has the extension of this file, because either both are compiled or neither is. */
const THREAD_FILE = new URL(`./sqlite-thread${extname(import.meta.filename)}`, import.meta.url);

/** A connection whose statements run in a thread, so that neither the disk nor a long query blocks the event loop. */
class ThreadConnection implements DatabaseConnection {
  readonly #worker: Worker;
  /** In statement order. Few entries: Kysely lends the connection to only one query or transaction at a time. */
  readonly #pending: PromiseWithResolvers<QueryResult<unknown>>[] = [];
  #endError: Error | null = null;

  constructor(options: SqliteOptions) {
    this.#worker = new Worker(THREAD_FILE, { name: 'sqlite', workerData: options });
    this.#worker.on('message', (response: ThreadResponse) => this.#onResponse(response));
    this.#worker.on('error', (cause: Error) => this.#end(cause));
    this.#worker.on('exit', () => this.#end());
  }

  get hasEnded(): boolean {
    return this.#endError !== null;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#endError !== null) throw this.#endError;
    this.#worker.postMessage({ sql, parameters } satisfies ThreadRequest);
    const pending = Promise.withResolvers<QueryResult<unknown>>();
    this.#pending.push(pending);
    // Keeps the process alive until the response arrives.
    this.#worker.ref();
    return pending.promise as Promise<QueryResult<Row>>;
  }

  streamQuery(): never {
    throw new Error('SQLite queries are not streamed');
  }

  /** Resolves once pending statements have been executed and the file is closed. */
  async close(): Promise<void> {
    if (this.#endError !== null) return;
    const ended = once(this.#worker, 'exit');
    this.#worker.ref();
    this.#worker.postMessage(null);
    await ended;
  }

  #onResponse(response: ThreadResponse): void {
    const pending = this.#pending.shift();
    if (this.#pending.length === 0) this.#worker.unref();
    if ('result' in response) pending?.resolve(response.result);
    else pending?.reject(Object.assign(response.error, { code: response.code }));
  }

  #end(cause?: Error): void {
    this.#endError ??= new Error('the database thread ended', { cause });
    for (const { reject } of this.#pending.splice(0)) reject(this.#endError);
  }
}

const executing = (sql: string) => async (connection: DatabaseConnection) => {
  await connection.executeQuery(CompiledQuery.raw(sql));
};

/** If the thread ends, the current statement or transaction fails, and the next one starts another thread. */
function makeDriver(options: SqliteOptions): Driver {
  let connection: ThreadConnection;
  return {
    init: async () => {
      connection = new ThreadConnection(options);
    },
    acquireConnection: async () => {
      if (connection.hasEnded) connection = new ThreadConnection(options);
      return connection;
    },
    // Takes the write lock at once: SQLite cannot upgrade a read transaction after another connection's write.
    beginTransaction: executing('begin immediate'),
    commitTransaction: executing('commit'),
    rollbackTransaction: executing('rollback'),
    releaseConnection: async () => undefined,
    destroy: () => connection.close(),
  };
}

/** Opens or creates the file. */
export const openSqlite = (options: SqliteOptions): Dialect => ({
  createDriver: () => makeDriver(options),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { type OpenOptions, openDatabase, type Store } from '../../src/control/database/open.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from './postgres-server.ts';

/** What a suite that runs on both databases works with. */
export type Stores = Readonly<{
  kind: Store['dialect'];
  /** Where an empty database can be opened, any number of times; a new one at each call. */
  fresh(): Promise<OpenOptions>;
  /** An open database that is closed after the test; a new one when no place is given. */
  open(place?: OpenOptions): Promise<Store>;
  /** Does this after the test, before the stores are closed. */
  defer(work: () => Promise<void>): void;
  /** The server behind it; null for SQLite. */
  server(): PostgresServer | null;
}>;

/** @returns the name of a database that has the tables, and that nobody is connected to. */
async function makeTemplate(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase();
  await (await openDatabase({ url })).close();
  return new URL(url).pathname.slice(1);
}

function suite(kind: Store['dialect'], tests: (stores: Stores) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'solway-store-'));
  const opened: Store[] = [];
  const deferred: (() => Promise<void>)[] = [];
  let server: PostgresServer | null = null;
  let template: Promise<string> | null = null;
  let files = 0;
  beforeAll(async () => {
    if (kind === 'postgres') server = await startPostgres(postgresPrograms!);
  });
  afterEach(async () => {
    for (const work of deferred.splice(0)) await work();
    for (const store of opened.splice(0)) await store.close().catch(() => undefined);
  });
  afterAll(async () => {
    await server?.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
  const fresh = async (): Promise<OpenOptions> =>
    server === null ? { file: join(folder, `${++files}.db`) } : { url: await server.createDatabase() };
  /** A database with its tables: on PostgreSQL a copy of one that got them once, which is far quicker. */
  const withTables = async (): Promise<OpenOptions> => {
    if (server === null) return fresh();
    template ??= makeTemplate(server);
    return { url: await server.createDatabase(await template) };
  };
  const open = async (place?: OpenOptions) => {
    const store = await openDatabase(place ?? (await withTables()));
    opened.push(store);
    return store;
  };
  tests({ kind, fresh, open, defer: (work) => void deferred.push(work), server: () => server });
}

/** Runs the tests on SQLite and, where its programs are installed, on a PostgreSQL server of their own. */
export function describeOnBothStores(name: string, tests: (stores: Stores) => void): void {
  describe(`${name}, on SQLite`, () => suite('sqlite', tests));
  describe.skipIf(postgresPrograms === null)(
    `${name}, on PostgreSQL (skipped where it is not installed)`,
    () => suite('postgres', tests),
  );
}

import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { type OpenOptions, openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { temporaryFolder } from '../service/program.ts';
import { type PostgresServer, postgresPrograms, startPostgres } from './postgres-server.ts';

export type Stores = Readonly<{
  kind: Store['dialect'];
  fresh(): Promise<OpenOptions>;
  /** Opens a database, by default a new one, and closes it after the test. */
  open(database?: OpenOptions): Promise<Store>;
  defer(work: () => Promise<void>): void;
  /** null for SQLite. */
  server(): PostgresServer | null;
}>;

async function makeTemplate(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase();
  await (await openDatabase({ url })).close();
  return new URL(url).pathname.slice(1);
}

function suite(kind: Store['dialect'], tests: (stores: Stores) => void): void {
  const folder = temporaryFolder('store');
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
  });
  const fresh = async (): Promise<OpenOptions> =>
    server === null ? { file: join(folder, `${++files}.db`) } : { url: await server.createDatabase() };
  /** With PostgreSQL, copies a migrated template, which is much faster than migrating. */
  const withTables = async (): Promise<OpenOptions> => {
    if (server === null) return fresh();
    template ??= makeTemplate(server);
    return { url: await server.createDatabase(await template) };
  };
  const open = async (database?: OpenOptions) => {
    const store = await openDatabase(database ?? (await withTables()));
    opened.push(store);
    return store;
  };
  tests({ kind, fresh, open, defer: (work) => void deferred.push(work), server: () => server });
}

export function describeOnSqlite(name: string, tests: (stores: Stores) => void): void {
  describe(name, () => suite('sqlite', tests));
}

export function describeOnBothStores(name: string, tests: (stores: Stores) => void): void {
  describe(`${name}, on SQLite`, () => suite('sqlite', tests));
  describe.skipIf(postgresPrograms === null)(
    `${name}, on PostgreSQL (skipped where it is not installed)`,
    () => suite('postgres', tests),
  );
}

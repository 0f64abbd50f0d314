import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe } from 'vitest';
import { type OpenOptions, openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { temporaryFolder } from '../service/program.ts';
import { postgresPrograms, sharedPostgres } from './postgres-server.ts';

export type Stores = Readonly<{
  kind: Store['dialect'];
  /** Creates an empty database. */
  fresh(): Promise<OpenOptions>;
  /** Creates a database with all tables. */
  migrated(): Promise<OpenOptions>;
  /** Opens a database, by default a new one, and closes it after the test. */
  open(database?: OpenOptions): Promise<Store>;
  defer(work: () => Promise<void>): void;
}>;

type Kind = Store['dialect'];

const folder = temporaryFolder('store');
let files = 0;

async function create(kind: Kind, template?: OpenOptions): Promise<OpenOptions> {
  if (kind === 'postgres')
    return { url: await (await sharedPostgres()).createDatabase(template?.url ?? undefined) };
  const file = join(folder, `${++files}.db`);
  if (template?.file !== undefined) copyFileSync(template.file, file);
  return { file };
}

async function createWithTables(kind: Kind): Promise<OpenOptions> {
  const database = await create(kind);
  await (await openDatabase(database)).close();
  return database;
}

/** Databases to copy, which is much faster than migrating. */
const templates: Partial<Record<Kind, Promise<OpenOptions>>> = {};

function suite(kind: Kind, tests: (stores: Stores) => void): void {
  const created: OpenOptions[] = [];
  const opened: Store[] = [];
  const deferred: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const work of deferred.splice(0)) await work();
    for (const store of opened.splice(0)) await store.close().catch(() => undefined);
  });
  afterAll(async () => {
    for (const { url } of created) if (url) await (await sharedPostgres()).dropDatabase(url);
  });
  const fresh = async (template?: OpenOptions): Promise<OpenOptions> => {
    const database = await create(kind, template);
    created.push(database);
    return database;
  };
  const migrated = async (): Promise<OpenOptions> => {
    templates[kind] ??= createWithTables(kind);
    return fresh(await templates[kind]);
  };
  const open = async (database?: OpenOptions) => {
    const store = await openDatabase(database ?? (await migrated()));
    opened.push(store);
    return store;
  };
  tests({ kind, fresh, migrated, open, defer: (work) => void deferred.push(work) });
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

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createControlToken } from '../../src/control/accounts/admin-tokens.ts';
import { ClickHouse } from '../../src/control/clickhouse/client.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';
import { createTable, TABLE } from '../../src/control/requests/clickhouse/table.ts';
import { termRows, termsOf } from '../../src/control/requests/log-terms.ts';
import { clickHouseProgram, startClickHouse } from '../../test/control/clickhouse-server.ts';
import { postgresPrograms, startPostgres } from '../../test/control/postgres-server.ts';
import { temporaryFolder } from '../../test/service/program.ts';
import { type Bulk, bulkPostgres, bulkSqlite } from './bulk.ts';
import { fill } from './fill.ts';
import { fillClickHouseUsage } from './fill-usage.ts';
import { logRows } from './log-rows.ts';
import { type Population, populationOf, type Sizes } from './population.ts';

export const storeKinds = ['sqlite', 'postgres', 'clickhouse'] as const;
/** `clickhouse`: the request log and usage in ClickHouse, everything else in SQLite. */
export type StoreKind = (typeof storeKinds)[number];

/** Describes the data of a folder. */
type Contents = Readonly<{ sizes: Sizes; filledAt: number }>;

export type FilledStore = Contents &
  Readonly<{
    dataDir: string;
    /** The [store] section of the configuration. */
    configuration: string;
    /** Token of an operator, and of each of the given customers. */
    createTokens(customerIds: readonly string[]): Promise<{ operator: string; customers: string[] }>;
    stop(): Promise<void>;
  }>;

const LOG_TABLES = ['request_log', 'request_term'];
const SQL_BATCH_ROWS = 5_000;
const CLICKHOUSE_BATCH_ROWS = 20_000;

async function fillSqlLog(bulk: Bulk, population: Population, total: number, now: number): Promise<void> {
  const createIndexes = await bulk.dropIndexes(LOG_TABLES);
  for (const rows of logRows(population, total, now, SQL_BATCH_ROWS)) {
    await bulk.insert('request_log', rows);
    await bulk.insert('request_term', rows.flatMap(termRows));
  }
  await createIndexes();
}

async function fillClickHouse(url: string, population: Population, sizes: Sizes, now: number) {
  const server = new ClickHouse(url);
  await server.run(createTable);
  for (const rows of logRows(population, sizes.logRows, now, CLICKHOUSE_BATCH_ROWS))
    await server.insert(
      TABLE,
      rows.map((row) => ({ ...row, terms: termsOf(row) })),
    );
  await fillClickHouseUsage(server, population, sizes, now);
  await server.close();
}

/** A folder without contents is left over from a run that was stopped. */
function contentsOf(folder: string): Contents | null {
  const file = join(folder, 'contents.json');
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Contents;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  return null;
}

function required<Value>(program: Value | null, name: string): Value {
  if (program === null) throw new Error(`${name} is not installed`);
  return program;
}

type Server = Readonly<{ url: string; end(): Promise<void> }>;

/** @param folder - null: the data is deleted at the end. */
async function startServer(kind: StoreKind, folder: string | null): Promise<Server | null> {
  if (kind === 'sqlite') return null;
  const data = folder === null ? undefined : join(folder, kind);
  if (data !== undefined) mkdirSync(data, { recursive: true });
  const end = (server: Readonly<{ kill(): Promise<void>; destroy(): Promise<void> }>) => () =>
    folder === null ? server.destroy() : server.kill();
  if (kind === 'postgres') {
    const server = await startPostgres(required(postgresPrograms, 'PostgreSQL'), data);
    return { url: server.url, end: end(server) };
  }
  const server = await startClickHouse(required(clickHouseProgram, 'ClickHouse'), data);
  return { url: await server.createDatabase(), end: end(server) };
}

/** Opens the store in a folder, and fills it first if needed. @param folder - null: a temporary one. */
export async function openFilledStore(
  kind: StoreKind,
  folder: string | null,
  sizes: Sizes,
): Promise<FilledStore> {
  const contents = folder === null ? null : contentsOf(folder);
  const dataDir = folder === null ? temporaryFolder('bench-lists') : join(folder, 'data');
  const server = await startServer(kind, folder);
  const database = kind === 'postgres' ? { url: server!.url } : { file: join(dataDir, 'solway.db') };
  const filledAt = contents?.filledAt ?? Date.now();
  if (contents === null) {
    const population = populationOf(sizes);
    await (await openDatabase(database)).close();
    const bulk = database.url === undefined ? bulkSqlite(database.file!) : await bulkPostgres(database.url);
    await fill({ bulk, population, sizes, now: filledAt }, kind === 'clickhouse');
    if (kind === 'clickhouse') await fillClickHouse(server!.url, population, sizes, filledAt);
    else await fillSqlLog(bulk, population, sizes.logRows, filledAt);
    await bulk.close();
    if (folder !== null) writeFileSync(join(folder, 'contents.json'), JSON.stringify({ sizes, filledAt }));
  }
  const option = { sqlite: '', postgres: 'database_url', clickhouse: 'clickhouse_url' }[kind];
  return {
    sizes: contents?.sizes ?? sizes,
    filledAt,
    dataDir,
    configuration: server === null ? '' : `[store]\n${option} = "${server.url}"\n`,
    async createTokens(customerIds) {
      const store = await openDatabase(database);
      const peppers = await openPeppers(store, { text: undefined, file: undefined, dataDir });
      const create = async (customer_id: string | null) => {
        const token = { name: 'bench', role: 'owner', created_by: 'bench', created_at: filledAt } as const;
        const { secret } = await store.db
          .transaction()
          .execute((trx) => createControlToken(trx, peppers, { ...token, customer_id, expires_at: null }));
        return secret;
      };
      const operator = await create(null);
      const customers: string[] = [];
      for (const id of customerIds) customers.push(await create(id));
      await store.close();
      return { operator, customers };
    },
    stop: async () => server?.end(),
  };
}

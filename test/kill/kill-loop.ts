import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { type OpenOptions, openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { rollUp } from '../../src/control/usage/roll-up.ts';
import { runChecks } from '../../src/control/usage/usage-checks.ts';
import { RequestLoad, TEST_PAUSE_MS } from '../cluster/request-load.ts';
import type { PostgresServer } from '../control/postgres-server.ts';
import { eventually } from '../service/eventually.ts';
import { operatorToken } from '../service/operator-token.ts';
import { temporaryFolder } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { startMock } from '../upstream/mock/server.ts';

/** Creates keys and accounts through the API of a gateway that is killed, and records the acknowledged ones. */
class Changes {
  readonly #headers: Record<string, string>;
  /** Acknowledged since the last check of the database. */
  #keys: string[] = [];
  #emails: string[] = [];
  /** How many acknowledged ones have been found in the database. */
  found = { keys: 0, accounts: 0 };
  #ended = false;
  #running: Promise<unknown> = Promise.resolve();
  #first = Promise.withResolvers<void>();

  /** @param token - an operator token. */
  constructor(token: string) {
    this.#headers = { authorization: `Bearer ${token}` };
  }

  /** Resolves when a key and an account have been acknowledged since `start`. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  start(url: string): void {
    this.#ended = false;
    this.#first = Promise.withResolvers();
    const createKey = async (): Promise<boolean> => {
      const requested = { product: 'rpc', name: 'made until killed' };
      const created = await post(`${url}/api/v1/customers/house/keys`, requested, this.#headers);
      if (created !== null) this.#keys.push((created as { key: { id: string } }).key.id);
      return created !== null;
    };
    const signUp = async (): Promise<boolean> => {
      const email = `${randomUUID()}@example.com`;
      const requested = { name: 'Somebody', email, password: 'made until it is killed' };
      const headers = { origin: url, 'x-solway': '1' };
      const created = await post(`${url}/api/auth/sign-up/email`, requested, headers);
      if (created !== null) this.#emails.push(email);
      return created !== null;
    };
    const repeat = async (make: () => Promise<boolean>): Promise<void> => {
      while (!this.#ended) {
        if (!(await make())) await delay(50);
        else if (this.#keys.length > 0 && this.#emails.length > 0) this.#first.resolve();
      }
    };
    this.#running = Promise.all([repeat(createKey), repeat(signUp)]);
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#running;
  }

  /** @returns descriptions of acknowledged data that is missing from the database. */
  async lost({ db }: Store): Promise<string[]> {
    const [keys, emails] = [this.#keys, this.#emails];
    [this.#keys, this.#emails] = [[], []];
    const lost: string[] = [];
    /** Looks for values in a column, and records the missing ones. @returns how many exist. */
    const find = async (
      what: string,
      table: string,
      column: string,
      wanted: readonly string[],
      action?: string,
    ): Promise<number> => {
      const [from, of, values] = [sql.table(table), sql.ref(column), sql.join(['', ...wanted])];
      const also = action === undefined ? sql`` : sql`AND action = ${action}`;
      const query = sql<{
        value: string;
      }>`SELECT ${of} AS value FROM ${from} WHERE ${of} IN (${values}) ${also}`;
      const found = new Set((await query.execute(db)).rows.map(({ value }) => value));
      const missing = wanted.filter((one) => !found.has(one));
      lost.push(...missing.map((one) => `${what} ${one} was acknowledged and is lost`));
      return found.size;
    };
    const actors = emails.map((email) => `user:${email}`);
    this.found.keys += await find('key', 'api_key', 'id', keys);
    this.found.accounts += await find('user', 'auth_user', 'email', emails);
    await find('audit entry of key', 'audit', 'key_id', keys, 'key.create');
    await find('audit entry of', 'audit', 'actor', actors, 'user.create');
    const users = await db
      .selectFrom('auth_user')
      .select('id')
      .where('email', 'in', ['', ...emails])
      .execute();
    const ids = users.map(({ id }) => id);
    await find('password of user', 'auth_account', 'userId', ids);
    return lost;
  }
}

/** @returns the response, or null for a failure or no response. */
async function post(url: string, body: object, headers: Record<string, string>): Promise<unknown> {
  const sent = { 'content-type': 'application/json', ...headers };
  try {
    const answer = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) });
    const text = await answer.text();
    return answer.ok ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

const DAY_MS = 86_400_000;

export type KillLoopOptions = Readonly<{
  kills: number;
  /** null for the embedded database. */
  postgres: PostgresServer | null;
  flushMs: number;
  concurrency: number;
  /** Maximum time under load before each kill, in milliseconds. */
  loadMs: number;
  /** Minimum duration of the outage of PostgreSQL before each kill, in milliseconds. */
  outageMs: number;
}>;

export type KillReport = Readonly<{
  answered: number;
  unanswered: number;
  counted: number;
  /** How long before the kill the oldest uncounted response was received, in milliseconds; 0 for none. */
  lossMs: number;
  /** Acknowledged keys and accounts that are stored. */
  keys: number;
  accounts: number;
  /** Descriptions of acknowledged items of this run that are missing. */
  lost: readonly string[];
}>;

/**
 * Repeatedly kills a gateway under load while keys and accounts are created by its API, and checks the database after
 * each restart.
 */
export async function killLoop(options: KillLoopOptions): Promise<KillReport[]> {
  const { postgres, flushMs } = options;
  const node = await startMock(healthy());
  const dataDir = temporaryFolder('usage-kill');
  const url = postgres === null ? null : await postgres.createDatabase();
  const configuration = [
    ...(url === null ? [] : ['[store]', `database_url = "${url}"`]),
    '[[upstream]]',
    `url = "${node.url}"`,
    'ws = "off"',
    '[grpc]\nenabled = false',
    `[keys]\ncustomer_keys_max = 1_000_000\n[internal.keys]\nusage_flush_interval_ms = ${flushMs}`,
    '[accounts]\nsign_up = "open"\n[internal.accounts]\naddress_free_attempts = 100_000',
    '[plans.default]\nrpc_per_second = 0\n',
  ].join('\n');
  const start = () => startService({ dataDir, configuration, timeoutMs: 120_000 });
  const database: OpenOptions = url === null ? { file: join(dataDir, 'solway.db') } : { url };
  const reports: KillReport[] = [];
  let service = await start();
  const { key } = service;
  const changes = new Changes(await operatorToken(dataDir, database));
  let before = 0;
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      const seen = () => untilCounted(database, before);
      const run = await oneRun(service, key, options, seen, changes);
      service = await start();
      await journalRecovered(dataDir, service);
      const counted = await countOf(database);
      const lost = await withStore(database, (store) => changes.lost(store));
      const { keys, accounts } = changes.found;
      reports.push({ keys, accounts, lost, ...evaluate(run, counted - before) });
      before = counted;
    }
    await service.stop();
    await checkUsage(database, before);
    return reports;
  } finally {
    service.process.kill('SIGKILL');
    await node.close();
  }
}

type Run = Readonly<{ answeredAt: readonly number[]; unanswered: number; killedAt: number }>;

async function oneRun(
  service: RunningService,
  key: string,
  { concurrency, loadMs, outageMs, postgres }: KillLoopOptions,
  seen: () => Promise<unknown>,
  changes: Changes,
): Promise<Run> {
  const load = new RequestLoad(service.ready.rpcUrl, key, concurrency, true, TEST_PAUSE_MS);
  changes.start(service.ready.url);
  // A kill before the first write would prove nothing.
  await Promise.all([seen(), changes.first]);
  await delay(Math.random() * loadMs);
  if (postgres !== null) {
    await postgres.kill();
    await delay(outageMs + Math.random() * loadMs);
  }
  const killedAt = performance.now();
  await service.stop('SIGKILL');
  const [{ answeredAt, failed }] = await Promise.all([load.stop(), changes.end()]);
  await postgres?.start();
  return { answeredAt, unanswered: failed.length, killedAt };
}

function evaluate({ answeredAt, unanswered, killedAt }: Run, counted: number) {
  const answered = answeredAt.length;
  const oldestMissing = answeredAt[counted];
  const lossMs = oldestMissing === undefined ? 0 : Math.max(0, killedAt - oldestMissing);
  return { answered, unanswered, counted, lossMs };
}

async function journalRecovered(dataDir: string, service: RunningService): Promise<void> {
  const folder = join(dataDir, 'usage-journal');
  const isOwn = (name: string): boolean => name.includes(`.${service.process.pid}.`);
  const isDone = async () => !existsSync(folder) || readdirSync(folder).every(isOwn);
  await eventually(isDone, 'the journal is recovered', { timeoutMs: 60_000 });
}

async function withStore<Result>(
  database: OpenOptions,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openDatabase(database);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const untilCounted = (database: OpenOptions, before: number): Promise<unknown> =>
  eventually(async () => (await countOf(database)) > before, 'usage is stored', { timeoutMs: 60_000 });

const countOf = (database: OpenOptions): Promise<number> =>
  withStore(database, async ({ db }) => {
    const rows = await db
      .selectFrom('usage_minute')
      .select('requests')
      .where('method', '=', 'getSlot')
      .where('key_id', '!=', '')
      .where('status', '=', 'ok')
      .execute();
    return rows.reduce((sum, { requests }) => sum + requests, 0);
  });

/** Checks usage, and that days and minutes agree. @throws Error on a violation. */
const checkUsage = (database: OpenOptions, counted: number): Promise<void> =>
  withStore(database, async (store) => {
    const later = Date.now() + 2 * DAY_MS;
    await rollUp(store, later, async () => true);
    await rollUp(store, later, async () => true);
    const days = await store.db
      .selectFrom('usage_day')
      .select('requests')
      .where('status', '=', 'ok')
      .execute();
    const sum = days.reduce((total, { requests }) => total + requests, 0);
    if (sum !== counted) throw new Error(`days have ${sum}, minutes ${counted}`);
    const wrong = (await runChecks(store, later, async () => true)).filter(
      ({ violations }) => violations > 0,
    );
    if (wrong.length > 0) throw new Error(`usage checks failed: ${JSON.stringify(wrong)}`);
  });

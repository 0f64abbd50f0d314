import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type OpenOptions, openDatabase, type Store } from '../../src/control/database/open.ts';
import { rollUp } from '../../src/control/usage/roll-up.ts';
import { runChecks } from '../../src/control/usage/usage-checks.ts';
import { RequestLoad } from '../cluster/request-load.ts';
import type { PostgresServer } from '../control/postgres-server.ts';
import { eventually } from '../service/eventually.ts';
import { operatorToken } from '../service/operator-token.ts';
import { temporaryFolder } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { healthy } from '../upstream/mock/behaviors.ts';
import { startMock } from '../upstream/mock/server.ts';
import { Changes } from './changes.ts';

const DAY_MS = 86_400_000;

export type KillLoopOptions = Readonly<{
  kills: number;
  /** null: the embedded database. */
  postgres: PostgresServer | null;
  flushMs: number;
  concurrency: number;
  /** Maximum time under load before each kill. */
  loadMs: number;
  /** With PostgreSQL: every nth kill happens during an outage of the database. */
  outageEvery: number;
  /** Minimum duration of the outage before the kill, in milliseconds; default: three flushes. */
  outageMs?: number;
  onKill?: (kill: KillReport) => void;
}>;

export type KillReport = Readonly<{
  kill: number;
  answered: number;
  unanswered: number;
  counted: number;
  /** Age of the oldest response that is not counted, in milliseconds; 0 for none. */
  lossMs: number;
  hadOutage: boolean;
  /** Acknowledged keys and accounts that are stored. */
  keys: number;
  accounts: number;
  /** Acknowledged items of this run that are missing, as text. */
  lost: readonly string[];
}>;

/**
 * Kills a gateway under load repeatedly while keys and accounts are created by its API, and reads the store after each
 * restart.
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
  const place: OpenOptions = url === null ? { file: join(dataDir, 'solway.db') } : { url };
  const reports: KillReport[] = [];
  let service = await start();
  const { key } = service;
  const changes = new Changes(await operatorToken(dataDir, place));
  let before = 0;
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      const hadOutage = postgres !== null && kill % options.outageEvery === 0;
      const seen = () => untilCounted(place, before);
      const run = await oneRun(service, key, options, hadOutage ? postgres : null, seen, changes);
      service = await start();
      await journalRecovered(dataDir, service);
      const counted = await countOf(place);
      const lost = await withStore(place, (store) => changes.lost(store));
      const { keys, accounts } = changes.found;
      const report = { kill, hadOutage, keys, accounts, lost, ...evaluate(run, counted - before) };
      reports.push(report);
      options.onKill?.(report);
      before = counted;
    }
    await service.stop();
    await checkUsage(place, before);
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
  { concurrency, loadMs, flushMs, outageMs = flushMs * 3 }: KillLoopOptions,
  database: PostgresServer | null,
  seen: () => Promise<unknown>,
  changes: Changes,
): Promise<Run> {
  const load = new RequestLoad(service.ready.rpcUrl, key, concurrency, true);
  changes.start(service.ready.url);
  // A kill before the first write would prove nothing.
  await Promise.all([seen(), changes.first]);
  await delay(Math.random() * loadMs);
  if (database !== null) {
    await database.kill();
    await delay(outageMs + Math.random() * loadMs);
  }
  const killedAt = performance.now();
  await service.stop('SIGKILL');
  const [{ answeredAt, failed }] = await Promise.all([load.stop(), changes.end()]);
  await database?.start();
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
  place: OpenOptions,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openDatabase(place);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const untilCounted = (place: OpenOptions, before: number): Promise<unknown> =>
  eventually(async () => (await countOf(place)) > before, 'usage is stored', { timeoutMs: 60_000 });

const countOf = (place: OpenOptions): Promise<number> =>
  withStore(place, async ({ db }) => {
    const rows = await db
      .selectFrom('usage_minute')
      .select('requests')
      .where('method', '=', 'getSlot')
      .where('key_id', '!=', '')
      .where('status', '=', 'ok')
      .execute();
    return rows.reduce((sum, { requests }) => sum + requests, 0);
  });

/** Usage checks pass, and days and minutes agree. @throws Error */
const checkUsage = (place: OpenOptions, counted: number): Promise<void> =>
  withStore(place, async (store) => {
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

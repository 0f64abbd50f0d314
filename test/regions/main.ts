import { copyFileSync } from 'node:fs';
import { connect, createServer, type NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_CUSTOMER_ID } from '../../src/control/accounts/roles.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { revokeKey } from '../../src/control/keys/change-key.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import type { KeyRegister } from '../../src/control/keys/key-register.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';
import { axisOver, readWholeSums } from '../../src/control/usage/read-usage.ts';
import { KeyTraffic } from '../chaos/key-traffic.ts';
import { redisProgram, startRedis } from '../control/limits/redis-server.ts';
import { postgresPrograms, startPostgres } from '../control/postgres-server.ts';
import { START_MS, startLocalnet } from '../programs/localnet.ts';
import { readOptions, sayUnless } from '../programs/options.ts';
import { median } from '../programs/process-stats.ts';
import { eventually } from '../service/eventually.ts';
import { temporaryFolder } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { isInside, ownNamespace, Region, runInside } from './namespaces.ts';

const USAGE = `Usage: npm run regions -- [options]

Runs a gateway in each of three network namespaces, with PostgreSQL and Redis in the first and a delayed line from the
others to them. Measures what the distance adds to a call, how long new and revoked keys take, what a shared limit lets
through, and what happens while the line of a region is cut. Needs root, iproute2, Python, PostgreSQL and Redis.

  --round-trip MS   of the lines (default 150)
  --outage S        how long the line is cut (default 20)
  --keys N          keys that are created and revoked (default 10)
  --json            print the result as JSON
`;
const options = readOptions(USAGE, { 'round-trip': 150, outage: 20, keys: 10, json: false });
const say = sayUnless(options.json);
const ROUND_TRIP_MS = options['round-trip'];

const PORT = 8080;
/** Alternating rounds with and without delay, so that other load on the machine affects both. */
const ROUNDS = 6;
const CALLS_PER_ROUND = 200;
const LIMIT = { perSecond: 20, burst: 40 };
const LIMIT_SECONDS = 10;
const PAUSE_MS = 20;
const never = (): boolean => false;

/** Accepts connections on all addresses and passes them on. @returns the port. */
function relay(target: NetConnectOpts): Promise<number> {
  const server = createServer((from) => {
    const to = connect(target);
    from.setNoDelay(true).pipe(to.setNoDelay(true)).pipe(from);
    from.on('error', () => to.destroy());
    to.on('error', () => from.destroy());
  });
  return new Promise((resolve) =>
    server.listen(0, '0.0.0.0', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    }),
  );
}

type Gateway = Readonly<{ service: RunningService; url: string; traffic: KeyTraffic; startMs: number }>;

async function measure(): Promise<number> {
  const postgres = await startPostgres(postgresPrograms!);
  const redis = await startRedis();
  const ledger = await startLocalnet(400);
  const regions = [await Region.create(1), await Region.create(2)];
  const gateways: Gateway[] = [];
  const stop = async (): Promise<void> => {
    for (const region of regions) region.delay(0);
    await Promise.all(gateways.map(({ service }) => service.stop()));
    await ledger.stop();
    await redis.destroy();
    await postgres.destroy();
    for (const region of regions) region.close();
  };
  try {
    const database = new URL(await postgres.createDatabase());
    const socket = join(database.searchParams.get('host') ?? '', '.s.PGSQL.5432');
    const ports = {
      database: await relay({ path: socket }),
      redis: await relay({ host: '127.0.0.1', port: Number(new URL(redis.url).port) }),
      rpc: await relay({ host: '127.0.0.1', port: ledger.rpcPort }),
      pubsub: await relay({ host: '127.0.0.1', port: ledger.pubsubPort }),
    };
    for (const region of regions) region.delay(ROUND_TRIP_MS);
    for (const region of [null, ...regions]) {
      const [db, node] = [region?.databaseAddress ?? '127.0.0.1', region?.nodeAddress ?? '127.0.0.1'];
      const dataDir = temporaryFolder('region');
      if (gateways[0] !== undefined)
        copyFileSync(join(gateways[0].service.dataDir, 'pepper'), join(dataDir, 'pepper'));
      const startedAt = performance.now();
      const service = await startService({
        ...{ dataDir, timeoutMs: START_MS, ...(region === null ? {} : { namespace: region.name }) },
        arguments: ['--host', '0.0.0.0', '--port', String(PORT)],
        configuration: `
[[upstream]]
name = "node"
url = "http://${node}:${ports.rpc}"
ws = "ws://${node}:${ports.pubsub}"
[store]
database_url = "postgres://solway@${db}:${ports.database}${database.pathname}"
[shared]
redis_url = "redis://${db}:${ports.redis}"
`,
      });
      const startMs = Math.round(performance.now() - startedAt);
      const url = `http://${region?.gatewayAddress ?? '127.0.0.1'}:${PORT}/v1/rpc`;
      gateways.push({ service, url, startMs, traffic: new KeyTraffic([url]) });
      say(`gateway ${gateways.length} is ready after ${startMs} ms`);
    }
    const store = await openDatabase({ url: database.href });
    const result = await measureAll(store, gateways, regions).finally(() => store.close());
    report(result, gateways);
    return result.faults.length === 0 ? 0 : 1;
  } finally {
    await stop();
  }
}

async function measureAll(store: Store, gateways: readonly Gateway[], regions: readonly Region[]) {
  const peppers = await openPeppers(store, { dataDir: gateways[0]!.service.dataDir });
  const register: KeyRegister = { store, peppers, actor: 'regions', keysMax: 1_000, now: Date.now };
  const known = await createKey(register, { product: 'rpc', name: 'known' });
  await untilEverywhere(gateways, known.secret, 'ok');
  say('calls with and without delay');
  const calls = await callTimes(gateways, regions, known.secret);
  say('new and revoked keys');
  const keys = await keyTimes(register, gateways);
  say('a limit');
  const limit = await limitOverall(register, gateways);
  say('an outage');
  const outage = await cutOff(register, gateways, regions, known.secret);
  say('usage');
  const counted = gateways.reduce((sum, { traffic }) => sum + traffic.answeredOf(known.secret), 0);
  const recorded = await eventually(
    async () => {
      const sum = await recordedCalls(store, known.key.id);
      return sum >= counted && sum;
    },
    `usage of ${counted} calls is recorded`,
    { timeoutMs: 30_000, everyMs: 500 },
  );
  const faults = [
    ...(outage.failed > 0 ? [`${outage.failed} calls of a known key failed while the line was cut`] : []),
    ...(limit.accepted > limit.most ? [`the limit let ${limit.accepted} calls through`] : []),
    ...(recorded === counted ? [] : [`${recorded} calls were recorded, not ${counted}`]),
  ];
  return { calls, keys, limit, outage, usage: { counted, recorded }, faults };
}

/** Median times of calls per region, in milliseconds. */
async function callTimes(gateways: readonly Gateway[], regions: readonly Region[], secret: string) {
  const times = gateways.map(() => ({ near: [] as number[], far: [] as number[] }));
  for (let round = 0; round < ROUNDS; round++) {
    const kind = round % 2 === 0 ? 'near' : 'far';
    for (const region of regions) region.delay(kind === 'near' ? 0 : ROUND_TRIP_MS);
    await sleep(500);
    for (let call = 0; call < CALLS_PER_ROUND; call++) {
      for (const [at, { traffic }] of gateways.entries()) {
        const startedAt = performance.now();
        await traffic.call(0, secret);
        times[at]![kind].push(performance.now() - startedAt);
      }
    }
  }
  const p95 = (numbers: number[]): number =>
    numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length * 0.95)] ?? 0;
  return times.map(({ near, far }) => ({
    ...{ near: median(near), far: median(far), nearP95: p95(near), farP95: p95(far) },
  }));
}

const untilEverywhere = (gateways: readonly Gateway[], secret: string, expected: string, since?: number) =>
  Promise.all(gateways.map(({ traffic }) => traffic.until(secret, expected, never, since)));

/** Median and longest time per region until a new key works and a revoked one does not. */
async function keyTimes(register: KeyRegister, gateways: readonly Gateway[]) {
  const times = gateways.map(() => ({ created: [] as number[], revoked: [] as number[] }));
  const note = (kind: 'created' | 'revoked', since: number, seen: readonly (number | null)[]): void => {
    for (const [at, lastWrongAt] of seen.entries())
      times[at]![kind].push(Math.max(0, (lastWrongAt ?? since) - since));
  };
  for (let count = 0; count < options.keys; count++) {
    const { secret, key } = await createKey(register, { product: 'rpc', name: 'short' });
    const createdAt = performance.now();
    note('created', createdAt, await untilEverywhere(gateways, secret, 'ok', createdAt));
    await revokeKey(register, key.id);
    const revokedAt = performance.now();
    note('revoked', revokedAt, await untilEverywhere(gateways, secret, 'INVALID_KEY', revokedAt));
  }
  const summary = (numbers: number[]) => ({ median: median(numbers), most: Math.max(...numbers) });
  return times.map(({ created, revoked }) => ({ created: summary(created), revoked: summary(revoked) }));
}

/** Exceeds a limit in all regions at once. */
async function limitOverall(register: KeyRegister, gateways: readonly Gateway[]) {
  const { secret } = await createKey(register, { product: 'rpc', name: 'limited', rate: LIMIT });
  await untilEverywhere(gateways, secret, 'ok');
  // Refills the bucket.
  await sleep((1_000 * LIMIT.burst) / LIMIT.perSecond);
  const startedAt = performance.now();
  const isOver = (): boolean => performance.now() - startedAt > LIMIT_SECONDS * 1_000;
  let accepted = 0;
  const exceed = async ({ traffic }: Gateway): Promise<void> => {
    for (; !isOver(); await sleep(PAUSE_MS)) if ((await traffic.call(0, secret)).outcome === 'ok') accepted++;
  };
  await Promise.all(gateways.map(exceed));
  const granted = LIMIT.burst + LIMIT.perSecond * LIMIT_SECONDS;
  // docs/explanation/limits-and-quotas.md: one burst per other gateway, paid back afterwards.
  return { accepted, granted, most: granted + (gateways.length - 1) * LIMIT.burst };
}

/** Cuts the line of region 1 while its clients send calls and keys change in region 0. */
async function cutOff(
  register: KeyRegister,
  gateways: readonly Gateway[],
  [region]: readonly Region[],
  secret: string,
) {
  const { traffic } = gateways[1]!;
  const revoked = await createKey(register, { product: 'rpc', name: 'revoked' });
  await untilEverywhere(gateways, revoked.secret, 'ok');
  region!.cut();
  const cutAt = performance.now();
  const isOver = (): boolean => performance.now() - cutAt > options.outage * 1_000;
  let [answered, failed, slowestMs] = [0, 0, 0];
  const load = (async () => {
    for (; !isOver(); await sleep(PAUSE_MS)) {
      const startedAt = performance.now();
      const { outcome } = await traffic.call(0, secret);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      if (outcome === 'ok') answered++;
      else failed++;
    }
  })();
  await revokeKey(register, revoked.key.id);
  const created = await createKey(register, { product: 'rpc', name: 'created' });
  const unknown = new Set<string>();
  for (; !isOver(); await sleep(500)) unknown.add((await traffic.call(0, created.secret)).outcome);
  const revokedKey = (await traffic.call(0, revoked.secret)).outcome;
  await load;
  region!.delay(ROUND_TRIP_MS);
  const backAt = performance.now();
  const after = async (key: string, expected: string): Promise<number> =>
    Math.round(((await traffic.until(key, expected, never, backAt)) ?? backAt) - backAt);
  const [revokedMs, createdMs] = await Promise.all([
    after(revoked.secret, 'INVALID_KEY'),
    after(created.secret, 'ok'),
  ]);
  return { answered, failed, slowestMs, unknown: [...unknown], revokedKey, revokedMs, createdMs };
}

async function recordedCalls(store: Store, keyId: string): Promise<number> {
  const axis = axisOver('minute', Date.now() - 3_600_000, Date.now() + 60_000);
  const filter = { customerId: DEFAULT_CUSTOMER_ID, keys: [keyId] };
  let sum = 0;
  await readWholeSums(store, { axis, filter }, ['status'], ({ status, requests }) => {
    if (status === 'ok') sum += Number(requests);
  });
  return sum;
}

function report(result: Awaited<ReturnType<typeof measureAll>>, gateways: readonly Gateway[]): void {
  const { calls, keys, limit, outage, usage, faults } = result;
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
  const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  const row = (name: string, cells: readonly string[]): void => say(`| ${name} | ${cells.join(' | ')} |`);
  say('');
  row('', ['beside the database', ...gateways.slice(1).map(() => `${ROUND_TRIP_MS} ms away`)]);
  say(`|---${'|--:'.repeat(gateways.length)}|`);
  row(
    'call, median, without delay',
    calls.map(({ near }) => ms(near)),
  );
  row(
    'call, median, with delay',
    calls.map(({ far }) => ms(far)),
  );
  row(
    'call, p95, without delay',
    calls.map(({ nearP95 }) => ms(nearP95)),
  );
  row(
    'call, p95, with delay',
    calls.map(({ farP95 }) => ms(farP95)),
  );
  row(
    'new key works, median',
    keys.map(({ created }) => ms(created.median)),
  );
  row(
    'revoked key is rejected, median',
    keys.map(({ revoked }) => ms(revoked.median)),
  );
  row(
    'revoked key is rejected, longest',
    keys.map(({ revoked }) => ms(revoked.most)),
  );
  row(
    'start of the gateway',
    gateways.map(({ startMs }) => ms(startMs)),
  );
  say(`
Limit of all regions together: ${limit.accepted} calls in ${LIMIT_SECONDS} s, ${limit.granted} granted.
Line cut for ${options.outage} s: ${outage.answered} calls of a known key answered, ${outage.failed} failed,
slowest ${ms(outage.slowestMs)}; a new key got ${outage.unknown.join(', ')}, a revoked one ${outage.revokedKey}.
With the line back, the revoked key was rejected after ${ms(outage.revokedMs)},
the new key worked after ${ms(outage.createdMs)}.
Usage: ${usage.recorded} of ${usage.counted} calls recorded.`);
  for (const fault of faults) say(fault);
}

if (postgresPrograms === null || redisProgram === null) {
  say('skipped: PostgreSQL and Redis must be installed');
} else if (isInside()) {
  ownNamespace();
  process.exitCode = await measure();
  process.exit();
} else {
  const ended = runInside();
  if (typeof ended === 'string') say(`skipped: ${ended}`);
  else process.exitCode = ended;
}

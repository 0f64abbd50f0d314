import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../../src/control/api/api-error.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { changeKey, revokeKey } from '../../src/control/keys/change-key.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import type { KeyRegister } from '../../src/control/keys/key-register.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';
import { Cluster } from '../cluster/cluster.ts';
import { readOptions, sayUnless } from '../programs/options.ts';
import { percentile } from '../programs/process-stats.ts';
import { GrpcClient } from '../service/grpc-client.ts';
import { SocketClient } from '../service/socket-client.ts';
import type { Ready } from '../service/start-service.ts';
import { KeyModel, type ModelKey, type Verb, verbs, works } from './key-model.ts';
import { KeyTraffic, POLL_MS } from './key-traffic.ts';
import { bounds, Outages } from './outages.ts';

const PAUSE_MS = 500;
const PER_SECOND_MAX = 50;

/**
 * Changes the rate limit of a key repeatedly and compares it with the limit that gateways report.
 * @returns the number of checked changes, and violations.
 */
async function changeLimits(
  register: KeyRegister,
  traffic: KeyTraffic,
  outages: Outages,
  isOver: () => boolean,
): Promise<{ changes: number; violations: string[] }> {
  const violations: string[] = [];
  const { secret, key } = await createKey(register, { product: 'rpc', name: 'changing' });

  const untilReported = async (gateway: number, perSecond: number, since: number): Promise<void> => {
    for (;;) {
      const startedAt = performance.now();
      const reported = await traffic.rateOf(gateway, secret);
      // Disconnected gateways divide the limit (docs/explanation/limits-and-quotas.md).
      if (reported === perSecond || reported === perSecond / traffic.gateways) return;
      const late = Math.round(startedAt - since);
      const what = `gateway-${gateway + 1} allows ${reported} per second ${late} ms after it became ${perSecond}`;
      if (startedAt > outages.limitOf(since)) return void violations.push(what);
      await delay(POLL_MS);
    }
  };
  let changes = 0;
  while (!isOver()) {
    await delay(PAUSE_MS);
    const perSecond = 5 + Math.floor(Math.random() * (PER_SECOND_MAX - 5));
    const rate = { perSecond, burst: 2 * perSecond };
    // During a database outage, the outcome of a change is unknown, so it is repeated.
    const done = await changeKey(register, key.id, { rate }).catch((error: unknown) => {
      if (error instanceof ApiError) throw error;
      return null;
    });
    if (done === null) continue;
    changes++;
    const since = performance.now();
    for (let gateway = 0; gateway < traffic.gateways; gateway++)
      await untilReported(gateway, perSecond, since);
  }
  return { changes, violations };
}

/** Maximum time that connections are held before their key is revoked. */
const HELD_MAX_MS = 5_000;

/** An open connection. Times are from `performance.now()`. */
type Held = { readonly what: string; endedAt: number | null; close(): void };

const isOpen = ({ endedAt }: Held): boolean => endedAt === null;

/** Returns null if the connection was rejected. */
async function openSocket(url: string): Promise<Held | null> {
  const client = await SocketClient.open(url).catch(() => null);
  if (client === null) return null;
  await client.call('slotSubscribe');
  const held: Held = { what: 'a WebSocket', endedAt: null, close: () => void client.close() };
  void client.ended.then(({ at }) => {
    held.endedAt = at;
  });
  return held;
}

/** Returns null if the connection was rejected. */
async function openStream(client: GrpcClient, secret: string): Promise<Held | null> {
  const stream = client.open(secret, 'Subscribe');
  const held: Held = { what: 'a gRPC stream', endedAt: null, close: () => stream.close() };
  const ended = stream.ended.then(() => {
    held.endedAt = performance.now();
  });
  stream.send({ slots: new Map([['all', {}]]) });
  await Promise.race([stream.first, ended]);
  return isOpen(held) ? held : null;
}

/** Retries, because a new key becomes valid after a moment. */
async function untilOpen(open: () => Promise<Held | null>, isOver: () => boolean): Promise<Held | null> {
  for (; !isOver(); await delay(POLL_MS)) {
    const held = await open();
    if (held !== null) return held;
  }
  return null;
}

/** Holds WebSockets and gRPC streams on every gateway, which must stay open exactly as long as their key is valid. */
class HeldConnections {
  readonly violations: string[] = [];
  /** Times from a revocation until a connection was closed, excluding database outages. */
  readonly delays: number[] = [];
  closed = 0;
  readonly #register: KeyRegister;
  readonly #gateways: readonly Ready[];
  /** Database outages. */
  readonly #outages: Outages;
  readonly #clients: readonly GrpcClient[];

  constructor(register: KeyRegister, gateways: readonly Ready[], outages: Outages) {
    this.#register = register;
    this.#gateways = gateways;
    this.#outages = outages;
    this.#clients = gateways.map(({ grpcUrl }) => new GrpcClient(grpcUrl));
  }

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      // During a database outage, no key can be created and the outcome of a revocation is unknown.
      const keys = await Promise.all([this.#make('rpc'), this.#make('grpc')]).catch(() => null);
      if (keys === null) {
        await delay(100);
        continue;
      }
      const [rpc, grpc] = keys;
      const opened = this.#gateways.flatMap(({ wsUrl }, at) => [
        untilOpen(() => openSocket(`${wsUrl}?api-key=${rpc.secret}`), isOver),
        untilOpen(() => openStream(this.#clients[at]!, grpc.secret), isOver),
      ]);
      const held = (await Promise.all(opened)).filter((one) => one !== null);
      await delay(Math.random() * HELD_MAX_MS);
      for (const { what } of held.filter((one) => !isOpen(one)))
        this.violations.push(`${what} was closed although its key was good`);
      const revoked = keys.map(({ key }) => revokeKey(this.#register, key.id));
      await Promise.all(revoked).then(
        () => this.#untilClosed(held),
        () => {},
      );
      for (const one of held) one.close();
    }
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  #make(product: 'rpc' | 'grpc') {
    return createKey(this.#register, { product, name: 'held' });
  }

  async #untilClosed(held: readonly Held[]): Promise<void> {
    const since = performance.now();
    while (held.some(isOpen) && performance.now() <= this.#outages.limitOf(since)) await delay(POLL_MS);
    const late = Math.round(performance.now() - since);
    for (const { what } of held.filter(isOpen))
      this.violations.push(`${what} of a revoked key was open ${late} ms later`);
    this.closed += held.filter((one) => !isOpen(one)).length;
    if (this.#outages.wasThereSince(since - bounds.afterReturn))
      this.delays.push(...held.map(({ endedAt }) => Math.max(0, (endedAt ?? performance.now()) - since)));
  }
}

const USAGE = `Usage: npm run chaos:keys -- [--minutes N] [--keys N] [--json]

Runs two gateways on one PostgreSQL and one Redis, which are killed and restarted while keys are created, rotated,
disabled, revoked and get other limits, and customers send calls and hold connections. Exits with 1 when a gateway
did not act on a change in time.

  --minutes N    duration (default 1)
  --keys N       keys at the start (default 1000)
  --json         print the result as JSON
`;
const { minutes, keys: keysAtFirst, json } = readOptions(USAGE, { minutes: 1, keys: 1_000, json: false });

const CHANGERS = 2;
const PROBERS = 4;
const HOLDERS = 3;
const FOLLOWED_MAX = 12;
const OUTAGE_INTERVAL_MS = 9_000;
/** Rate limit of the key that exceeds it on both gateways. */
const RATE = { perSecond: 10, burst: 20 };

/** Minimum number of measurements per minute. */
const SAMPLES_PER_MINUTE = 20;

const say = sayUnless(json);

type Figures = { changes: Record<Verb, number>; delays: number[]; late: string[]; followed: number };

/** Measures how long both gateways take to apply a change, excluding database outages. */
async function follow(key: ModelKey, traffic: KeyTraffic, outages: Outages, figures: Figures) {
  const { generation, since } = key;
  figures.followed++;
  const expected = works(key) ? 'ok' : 'INVALID_KEY';
  const isChanged = () => key.generation !== generation;
  const isOver = () => isChanged() || performance.now() > outages.limitOf(since) + bounds.most;
  const seenAt = await traffic.until(key.secret, expected, isOver, since);
  figures.followed--;
  if (seenAt === null && !isChanged())
    figures.late.push(`key ${key.id} was not ${key.state} on all gateways ${bounds.most} ms after the limit`);
  if (seenAt !== null && outages.wasThereSince(since - bounds.afterReturn))
    figures.delays.push(Math.max(0, seenAt - since));
}

async function changes(
  model: KeyModel,
  traffic: KeyTraffic,
  outages: Outages,
  figures: Figures,
  isOver: () => boolean,
) {
  while (!isOver()) {
    const verb = verbs[Math.floor(Math.random() * verbs.length)]!;
    const changed = await model.change(verb);
    if (changed.length > 0) figures.changes[verb]++;
    for (const key of changed)
      if (figures.followed < FOLLOWED_MAX) void follow(key, traffic, outages, figures);
    await delay(changed.length > 0 ? 20 : 100);
  }
}

async function probes(model: KeyModel, traffic: KeyTraffic, isOver: () => boolean) {
  while (!isOver()) {
    const gateway = Math.floor(Math.random() * traffic.gateways);
    const key = model.any();
    await model.check(key, () => traffic.call(gateway, key.secret), `gateway-${gateway + 1}`);
  }
}

/** Exceeds the rate limit of a key on all gateways at once. @returns the number of accepted calls. */
async function exhaust(secret: string, traffic: KeyTraffic, isOver: () => boolean): Promise<number> {
  let accepted = 0;
  const sendRepeatedly = async (gateway: number) => {
    while (!isOver()) {
      const { outcome } = await traffic.call(gateway, secret);
      if (outcome === 'ok') accepted++;
      await delay(25);
    }
  };
  await Promise.all(Array.from({ length: traffic.gateways }, (_, gateway) => sendRepeatedly(gateway)));
  return accepted;
}

/** Checks at the end that every gateway accepts exactly the valid keys. */
async function checkAll(model: KeyModel, traffic: KeyTraffic): Promise<void> {
  await delay(bounds.afterReturn);
  await model.settle();
  for (const key of model.keys)
    for (let gateway = 0; gateway < traffic.gateways; gateway++)
      await model.check(key, () => traffic.call(gateway, key.secret), `gateway-${gateway + 1}, at the end`);
}

/** Default of `shared.sync_interval_ms`. */
const SYNC_INTERVAL_SECONDS = 0.1;

/** Minimum number of accepted calls: half of what the plan grants, because of the outages. */
const leastOf = (seconds: number): number => Math.floor((RATE.burst + RATE.perSecond * seconds) / 2);

/**
 * Maximum number of accepted calls (docs/explanation/limits-and-quotas.md, "Several gateways"): what the plan grants,
 * what the other gateways accept within one interval, and one more burst for each loss of the Redis data.
 */
const mostOf = (seconds: number, redisOutages: number, gateways: number): number => {
  const granted = RATE.burst + RATE.perSecond * seconds;
  const inOneInterval = RATE.burst + RATE.perSecond * SYNC_INTERVAL_SECONDS;
  return Math.ceil(granted + (gateways - 1) * inOneInterval + redisOutages * RATE.burst);
};

async function run(cluster: Cluster, store: Store): Promise<number> {
  const first = [...cluster.gateways.values()][0]!;
  const peppers = await openPeppers(store, { dataDir: first.dataDir });
  const register: KeyRegister = { store, peppers, actor: 'chaos', keysMax: 1_000_000, now: Date.now };
  const database = new Outages(cluster.postgres, OUTAGE_INTERVAL_MS);
  const redis = new Outages(cluster.redis, OUTAGE_INTERVAL_MS);
  const model = new KeyModel(register, database);
  const gateways = [...cluster.gateways.values()].map(({ ready }) => ready);
  const traffic = new KeyTraffic(gateways.map(({ rpcUrl }) => rpcUrl));
  const held = new HeldConnections(register, gateways, database);
  say(`making ${keysAtFirst} keys`);
  for (let count = 0; count < keysAtFirst; count++) await model.change('create');
  const limited = await createKey(register, { product: 'rpc', name: 'limited', rate: RATE });
  await traffic.until(limited.secret, 'ok', () => false);
  const startedAt = performance.now();
  const isOver = () => performance.now() > startedAt + minutes * 60_000;
  const figures: Figures = {
    changes: Object.fromEntries(verbs.map((verb) => [verb, 0])) as Figures['changes'],
    delays: [],
    late: [],
    followed: 0,
  };
  say(`${minutes} minutes of changes, calls and outages`);
  const repeat = <T>(count: number, work: () => Promise<T>) => Array.from({ length: count }, work);
  const [accepted, limits] = await Promise.all([
    exhaust(limited.secret, traffic, isOver),
    changeLimits(register, traffic, database, isOver),
    database.run(isOver),
    redis.run(isOver),
    ...repeat(HOLDERS, () => held.run(isOver)),
    ...repeat(CHANGERS, () => changes(model, traffic, database, figures, isOver)),
    ...repeat(PROBERS, () => probes(model, traffic, isOver)),
  ]);
  const seconds = (performance.now() - startedAt) / 1_000;
  await checkAll(model, traffic);
  held.close();
  const delays = sorted(figures.delays);
  const closing = sorted(held.delays);
  const most = mostOf(seconds, redis.count, traffic.gateways);
  const least = leastOf(seconds);
  const faults = [
    ...[...model.violations, ...figures.late, ...held.violations, ...limits.violations],
    ...faultsOf('changes in force', delays),
    ...faultsOf('connections of revoked keys closed', closing),
    ...(limits.changes === 0 ? ['no change of a limit was checked'] : []),
    ...(accepted > most ? [`${accepted} calls accepted, at most ${most} allowed`] : []),
    ...(accepted < least ? [`${accepted} calls accepted, at least ${least} required`] : []),
  ];
  const outages = { postgres: database.count, redis: redis.count };
  const result = {
    ...{ minutes, keys: model.keys.length, good: model.keys.filter(works).length, changes: figures.changes },
    ...{ outages, calls: traffic.calls, inForceMs: timesOf(delays), limitChanges: limits.changes },
    ...{ closed: held.closed, closedMs: timesOf(closing), accepted, least, most, faults },
  };
  if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
  for (const [name, value] of Object.entries(result)) say(`${name}: ${JSON.stringify(value)}`);
  say(faults.length === 0 ? 'All promises held.' : `${faults.length} faults`);
  return faults.length === 0 ? 0 : 1;
}

const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((one, other) => one - other);

/** Percentiles of sorted times. */
const timesOf = (times: readonly number[]) => ({
  ...{ count: times.length, p50: percentile(times, 0.5), p99: percentile(times, 0.99) },
  max: percentile(times, 1),
});

/** Checks measured times: their number and their p99. */
function faultsOf(what: string, times: readonly number[]): string[] {
  const samples = Math.ceil(SAMPLES_PER_MINUTE * minutes);
  if (times.length < samples) return [`${what}: measured ${times.length} times, not ${samples}`];
  const { p99 } = timesOf(times);
  return p99 > bounds.usual ? [`${what}: after ${p99} ms at p99, not ${bounds.usual}`] : [];
}

const cluster = await Cluster.start(2, say);
const store = await openDatabase({ url: cluster.databaseUrl });
try {
  process.exitCode = await run(cluster, store);
} finally {
  await store.close();
  await cluster.stop();
}

import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase, type Store } from '../../src/control/database/open.ts';
import { createKey } from '../../src/control/keys/create-key.ts';
import type { KeyRegister } from '../../src/control/keys/key-register.ts';
import { openPeppers } from '../../src/control/pepper-proof.ts';
import { Cluster } from '../cluster/cluster.ts';
import { readOptions } from '../programs/options.ts';
import { HeldConnections } from './held-connections.ts';
import { KeyModel, type ModelKey, type Verb, verbs } from './key-model.ts';
import { KeyTraffic } from './key-traffic.ts';
import { faultsOf, share } from './keys-result.ts';
import { LimitChanges } from './limit-changes.ts';
import { bounds, Outages } from './outages.ts';

const USAGE = `Usage: npm run chaos:keys -- [--minutes N] [--keys N]

Runs two gateways on one PostgreSQL and one Redis, which are killed and restarted while keys are created, rotated,
disabled, revoked and get other limits, and customers send calls and hold connections. Exits with 1 when a gateway
did not act on a change in time.

  --minutes N    duration (default 1)
  --keys N       keys at the start (default 1000)
`;
const { minutes, keys: keysAtFirst } = readOptions(USAGE, { minutes: 1, keys: 1_000 });

const CHANGERS = 2;
const PROBERS = 4;
const HOLDERS = 3;
const FOLLOWED_MAX = 12;
const OUTAGE_INTERVAL_MS = 9_000;
/** Limit of a key that exceeds it on both gateways. */
const RATE = { perSecond: 10, burst: 20 };

const say = (line: string) => process.stdout.write(`${line}\n`);
const works = ({ state }: ModelKey) => state === 'good' || state === 'replaced';

type Figures = { changes: Record<Verb, number>; delays: number[]; late: string[]; followed: number };

/** Measures how long a change takes until both gateways act on it; not during outages of the database. */
async function follow(key: ModelKey, traffic: KeyTraffic, outages: Outages, figures: Figures) {
  const { generation, since } = key;
  figures.followed++;
  const expected = works(key)
    ? (outcome: string) => outcome === 'ok'
    : (outcome: string) => outcome === 'INVALID_KEY';
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

/** Exceeds the limit of a key on every gateway at once. @returns the number of accepted calls. */
async function exhaust(secret: string, traffic: KeyTraffic, isOver: () => boolean): Promise<number> {
  let accepted = 0;
  const hammer = async (gateway: number) => {
    while (!isOver()) {
      const { outcome } = await traffic.call(gateway, secret);
      if (outcome === 'ok') accepted++;
      await delay(25);
    }
  };
  await Promise.all(Array.from({ length: traffic.gateways }, (_, gateway) => hammer(gateway)));
  return accepted;
}

/** Checks every key on every gateway at the end: exactly the good ones are accepted. */
async function checkAll(model: KeyModel, traffic: KeyTraffic): Promise<void> {
  await delay(bounds.afterReturn);
  await model.settle();
  for (const key of model.keys)
    for (let gateway = 0; gateway < traffic.gateways; gateway++)
      await model.check(key, () => traffic.call(gateway, key.secret), `gateway-${gateway + 1}, at the end`);
}

/** Default of `shared.sync_interval_ms`. */
const SYNC_INTERVAL_SECONDS = 0.1;

/** Calls that must be accepted at least: half of what the plan grants, because of the outages. */
const leastOf = (seconds: number): number => Math.floor((RATE.burst + RATE.perSecond * seconds) / 2);

/**
 * Calls that may be accepted at most (docs/explanation/limits-and-quotas.md, "Several gateways"): what the plan grants,
 * what the other gateways accept within one interval, and one more burst for each loss of the data of Redis.
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
  const held = new HeldConnections({ register, gateways, outages: database });
  const limits = new LimitChanges(register, traffic, database);
  say(`making ${keysAtFirst} keys`);
  for (let count = 0; count < keysAtFirst; count++) await model.change('create');
  const limited = await createKey(register, { product: 'rpc', name: 'limited', rate: RATE });
  await traffic.until(
    limited.secret,
    (outcome) => outcome === 'ok',
    () => false,
  );
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
  const [accepted] = await Promise.all([
    exhaust(limited.secret, traffic, isOver),
    database.run(isOver),
    redis.run(isOver),
    limits.run(isOver),
    ...repeat(HOLDERS, () => held.run(isOver)),
    ...repeat(CHANGERS, () => changes(model, traffic, database, figures, isOver)),
    ...repeat(PROBERS, () => probes(model, traffic, isOver)),
  ]);
  const seconds = (performance.now() - startedAt) / 1_000;
  await checkAll(model, traffic);
  held.close();
  await traffic.close();
  return report({ model, traffic, figures, held, limits, database, redis, accepted, seconds });
}

type Outcome = Readonly<{
  model: KeyModel;
  traffic: KeyTraffic;
  figures: Figures;
  held: HeldConnections;
  limits: LimitChanges;
  database: Outages;
  redis: Outages;
  accepted: number;
  seconds: number;
}>;

function report(outcome: Outcome): number {
  const { model, traffic, figures, held, limits, database, redis, accepted, seconds } = outcome;
  const delays = figures.delays.toSorted((one, other) => one - other);
  const most = mostOf(seconds, redis.count, traffic.gateways);
  const closing = held.delays.toSorted((one, other) => one - other);
  const least = leastOf(seconds);
  const measured = { minutes, delays, closing, limitChanges: limits.changes, accepted, least, most };
  const faults = [...model.violations, ...figures.late, ...held.violations, ...limits.violations];
  faults.push(...faultsOf(measured));
  const done = Object.entries(figures.changes).map(([verb, count]) => `${count} × ${verb}`);
  say(`keys: ${model.keys.length}, ${model.keys.filter(works).length} of them good`);
  say(`changes: ${done.join(', ')}`);
  say(`outages: PostgreSQL ${database.count}, Redis ${redis.count}; calls: ${traffic.calls}`);
  say(
    `in force on both gateways, without outages of the database: p50 ${share(delays, 0.5)} ms, p99 ${share(delays, 0.99)} ms, ` +
      `most ${share(delays, 1)} ms, of ${delays.length} changes`,
  );
  say(
    `connections of revoked keys closed: ${held.closed}, without outages of the database: p50 ${share(closing, 0.5)} ms, ` +
      `p99 ${share(closing, 0.99)} ms, most ${share(closing, 1)} ms; limits changed: ${limits.changes}`,
  );
  say(`limit of ${RATE.perSecond} per second: ${accepted} calls accepted, allowed ${least} to ${most}`);
  for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
  say(faults.length === 0 ? 'All promises held.' : `${faults.length} faults`);
  return faults.length === 0 ? 0 : 1;
}

const cluster = await Cluster.start(2, say);
const store = await openDatabase({ url: cluster.databaseUrl });
try {
  process.exitCode = await run(cluster, store);
} finally {
  await store.close();
  await cluster.stop();
}

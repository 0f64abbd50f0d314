import { atLeast, atMost, type Goal } from '../goals.ts';
import { type Setting, type Spread, settingOf, spread } from '../results.ts';
import {
  type ByServer,
  CACHED,
  ERPC,
  ERPC_CACHED,
  HALF_REPEATED,
  HAPROXY,
  type Memory,
  MOSTLY_REPEATED,
  NGINX,
  NGINX_LUA,
  NGINX_UNTUNED,
  NODE,
  type Round,
  type Setup,
  SOLWAY,
  UNREAD,
  UNSHARED,
} from './measured.ts';
import type { FullLoad } from './phases.ts';

/** Throughput of one server over all rounds. */
export type Throughput = Readonly<{
  requestsPerCpuSecond: Spread;
  /** Ratio to nginx per round; null without nginx. */
  toNginx: Spread | null;
  /** Ratio to nginx with Lua per round; null without it. */
  toNginxLua: Spread | null;
  /** CPUs used. */
  busy: number;
  p50Ms: number;
  p99Ms: number;
}>;

/** Latency at a fixed rate, over all rounds. */
export type Latency = Readonly<{
  p50Ms: number;
  p99Ms: number;
  /** Latency added to that of the node, per round. */
  addedP50Ms: Spread;
  addedP99Ms: Spread;
}>;

export type NodeCost = Readonly<{
  microsecondsPerRequest: number;
  /** Load of the CPU that the node shares with the load generator. */
  processorBusy: number;
  /** Delay of the open loop. */
  lateP99Ms: number;
}>;

export type Summary = Setting &
  Setup &
  Readonly<{
    rounds: number;
    short: ByServer<Throughput>;
    /** Short responses, not directly comparable. */
    apart: ByServer<Throughput>;
    long: ByServer<Throughput>;
    /** Long responses, not directly comparable. */
    longApart: ByServer<Throughput>;
    /** Long responses relative to nginx with default buffers, per round; null without nginx. */
    longToUntuned: Spread | null;
    latency: ByServer<Latency>;
    /** p99 of solway minus that of nginx with Lua, per round; null without it. */
    p99OverLuaMs: Spread | null;
    /** Default configuration with distinct calls, relative to the gateway as a proxy, per round. */
    defaultToProxy: Spread | null;
    memory: ByServer<Memory & Readonly<{ requests: number }>>;
    nodeCost: NodeCost;
    goals: readonly Goal[];
  }>;

const COMPARED = [SOLWAY, NGINX, NGINX_LUA, HAPROXY, ERPC];
/** Loads of the default configuration, with their targets relative to nginx with Lua. */
const defaults: Readonly<Record<string, number>> = {
  [CACHED]: 1,
  [HALF_REPEATED]: 1.5,
  [MOSTLY_REPEATED]: 2,
};

const median = (values: readonly number[]): number => spread(values).median;

/** Values of a server in the rounds in which it took part. */
const valuesOf = <Value>(rounds: readonly ByServer<Value>[], name: string): Value[] =>
  rounds.flatMap((round) => round[name] ?? []);

const byName = <Value>(names: readonly string[], value: (name: string) => Value): ByServer<Value> =>
  Object.fromEntries(names.map((name) => [name, value(name)]));

/** Ratio of requests per CPU second per round; null if the other did not take part. */
function ratioOf(rounds: readonly ByServer<FullLoad>[], name: string, to: string): Spread | null {
  const others = valuesOf(rounds, to);
  const rateOf = (one: FullLoad | undefined): number => one?.requestsPerCpuSecond ?? 0;
  return others.length === 0
    ? null
    : spread(valuesOf(rounds, name).map((one, at) => rateOf(one) / rateOf(others[at])));
}

function throughput(rounds: readonly ByServer<FullLoad>[], name: string): Throughput {
  const own = valuesOf(rounds, name);
  return {
    requestsPerCpuSecond: spread(own.map((one) => one.requestsPerCpuSecond)),
    toNginx: ratioOf(rounds, name, NGINX),
    toNginxLua: ratioOf(rounds, name, NGINX_LUA),
    busy: median(own.map(({ busy }) => busy)),
    p50Ms: median(own.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(own.map(({ p99Ms }) => p99Ms)),
  };
}

function latency(rounds: readonly Round['latency'][], name: string): Latency {
  const [own, node] = [valuesOf(rounds, name), valuesOf(rounds, NODE)];
  const added = (pick: (one: (typeof own)[number]) => number): Spread =>
    spread(own.map((one, at) => pick(one) - pick(node[at] ?? one)));
  return {
    p50Ms: median(own.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(own.map(({ p99Ms }) => p99Ms)),
    addedP50Ms: added(({ p50Ms }) => p50Ms),
    addedP99Ms: added(({ p99Ms }) => p99Ms),
  };
}

function costOfNode(rounds: readonly Round[]): NodeCost {
  const loads = rounds.flatMap(({ short }) => Object.values(short));
  return {
    microsecondsPerRequest: median(loads.map((one) => (one.nodeCpuSeconds * 1e6) / one.requests)),
    processorBusy: median(loads.map(({ loadProcessorBusy }) => loadProcessorBusy)),
    lateP99Ms: median(rounds.flatMap((one) => Object.values(one.latency).map(({ lateP99Ms }) => lateP99Ms))),
  };
}

function requestsOf(rounds: readonly Round[], name: string): number {
  const all = rounds.flatMap(({ short, long, latency: timed }) => [short[name], long[name], timed[name]]);
  return all.reduce((sum, one) => sum + (one?.requests ?? 0), 0);
}

/** Memory growth since the warm-up that counts as flat. */
const FLAT_RATIO = 1.1;

function goalsOf(summary: Omit<Summary, 'goals'>): Goal[] {
  const { short, apart, long, longToUntuned, p99OverLuaMs, defaultToProxy, memory } = summary;
  const [own, longOwn, held] = [short[SOLWAY], long[SOLWAY], memory[SOLWAY]];
  const goals: Goal[] = [];
  if (own?.toNginxLua != null) goals.push(atLeast('as a proxy, × nginx + Lua', 1.2, own.toNginxLua.median));
  for (const [name, target] of Object.entries(defaults)) {
    const ratio = apart[name]?.toNginxLua;
    if (ratio != null) goals.push(atLeast(`${name}, × nginx + Lua`, target, ratio.median));
  }
  if (defaultToProxy !== null)
    goals.push(atLeast('default configuration, distinct calls, × as a proxy', 0.9, defaultToProxy.median));
  if (p99OverLuaMs !== null) goals.push(atMost('p99 minus nginx + Lua, in ms', 0, p99OverLuaMs.median));
  if (longOwn?.toNginx != null)
    goals.push(atLeast('1 MiB responses per CPU second, relative to nginx', 1, longOwn.toNginx.median));
  if (longToUntuned !== null)
    goals.push(atLeast('1 MiB responses, relative to nginx with default buffers', 1, longToUntuned.median));
  if (held !== undefined)
    goals.push(atMost('memory at the end, relative to the start', FLAT_RATIO, held.endMib / held.startMib));
  return goals;
}

/** Medians over the rounds; ratios and differences are computed per round. */
export function summarize(rounds: readonly Round[], memory: ByServer<Memory>, setup: Setup): Summary {
  const [shorts, longs, timed] = [
    rounds.map(({ short }) => short),
    rounds.map(({ long }) => long),
    rounds.map(({ latency: one }) => one),
  ];
  const there = (names: readonly string[]) => names.filter((name) => memory[name] !== undefined);
  const compared = there(COMPARED);
  const lua = valuesOf(timed, NGINX_LUA);
  const over = valuesOf(timed, SOLWAY).map((one, at) => one.p99Ms - (lua[at]?.p99Ms ?? 0));
  const summary = {
    ...settingOf(`npm run bench -- rpc --rounds ${rounds.length} --seconds ${setup.seconds}`),
    ...setup,
    rounds: rounds.length,
    short: byName(compared, (name) => throughput(shorts, name)),
    apart: byName(there([UNSHARED, ...Object.keys(defaults), ERPC_CACHED, UNREAD]), (name) =>
      throughput(shorts, name),
    ),
    long: byName(compared, (name) => throughput(longs, name)),
    longApart: byName(there([NGINX_UNTUNED, UNREAD]), (name) => throughput(longs, name)),
    longToUntuned: ratioOf(longs, SOLWAY, NGINX_UNTUNED),
    latency: byName([...compared, NODE], (name) => latency(timed, name)),
    p99OverLuaMs: lua.length === 0 ? null : spread(over),
    defaultToProxy: ratioOf(shorts, CACHED, SOLWAY),
    memory: byName(Object.keys(memory), (name) => ({
      ...(memory[name] as Memory),
      requests: requestsOf(rounds, name),
    })),
    nodeCost: costOfNode(rounds),
  };
  return { ...summary, goals: goalsOf(summary) };
}

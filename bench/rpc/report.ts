import { atLeast, atMost, type Goal } from '../goals.ts';
import { type Setting, type Spread, settingOf, spread } from '../results.ts';
import {
  type ByServer,
  CACHED,
  HAPROXY,
  type Memory,
  NGINX,
  NGINX_UNTUNED,
  NODE,
  PIPELINED,
  type Round,
  type Setup,
  SOLWAY,
  UNREAD,
} from './measured.ts';
import type { FullLoad } from './phases.ts';

/** Throughput of one server over all rounds. */
export type Throughput = Readonly<{
  requestsPerCpuSecond: Spread;
  /** To nginx, round by round; null without nginx. */
  toNginx: Spread | null;
  /** Processors that it used. */
  busy: number;
  p50Ms: number;
  p99Ms: number;
}>;

/** Latency at a fixed rate, over all rounds. */
export type Latency = Readonly<{
  p50Ms: number;
  p99Ms: number;
  /** To the node asked directly, round by round. */
  addedP50Ms: Spread;
  addedP99Ms: Spread;
}>;

/** What the node cost. */
export type NodeCost = Readonly<{
  microsecondsPerRequest: number;
  /** Of the processor that it shares with the load, while each server was loaded. */
  processorBusy: number;
  /** How late the open loop was. */
  lateP99Ms: number;
}>;

export type Summary = Setting &
  Setup &
  Readonly<{
    rounds: number;
    short: ByServer<Throughput>;
    /** Like the short ones, but not like for like. */
    apart: ByServer<Throughput>;
    long: ByServer<Throughput>;
    /** Like the long ones, but not like for like. */
    longApart: ByServer<Throughput>;
    /** Long answers of solway, to those of nginx with its own buffers, round by round; null without nginx. */
    longToUntuned: Spread | null;
    latency: ByServer<Latency>;
    /** Added p99 of solway less that of nginx, round by round; null without nginx. */
    p99OverNginxMs: Spread | null;
    memory: ByServer<Memory & Readonly<{ requests: number }>>;
    nodeCost: NodeCost;
    goals: readonly Goal[];
  }>;

const COMPARED = [SOLWAY, NGINX, HAPROXY];

const median = (values: readonly number[]): number => spread(values).median;

/** What each round says of a server, where it took part. */
const valuesOf = <Value>(rounds: readonly ByServer<Value>[], name: string): Value[] =>
  rounds.flatMap((round) => round[name] ?? []);

/** @param names - those that took part. */
const byName = <Value>(names: readonly string[], value: (name: string) => Value): ByServer<Value> =>
  Object.fromEntries(names.map((name) => [name, value(name)]));

/** Requests per CPU second of one server to those of another, round by round; null where the other took no part. */
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

/** Memory that a process may have taken and not given back since it was warm, when it is called flat. */
const FLAT_RATIO = 1.1;

function goalsOf(summary: Omit<Summary, 'goals'>): Goal[] {
  const { short, long, longToUntuned, p99OverNginxMs, memory } = summary;
  const [own, longOwn, held] = [short[SOLWAY], long[SOLWAY], memory[SOLWAY]];
  const goals: Goal[] = [];
  if (own?.toNginx != null)
    goals.push(atLeast('requests per CPU second, to nginx', 0.85, own.toNginx.median));
  if (p99OverNginxMs !== null)
    goals.push(atMost('added p99 less that of nginx, in ms', 0, p99OverNginxMs.median));
  if (longOwn?.toNginx != null)
    goals.push(atLeast('answers of 1 MiB per CPU second, to nginx', 1, longOwn.toNginx.median));
  if (longToUntuned !== null)
    goals.push(atLeast('answers of 1 MiB, to nginx with its own buffers', 1, longToUntuned.median));
  if (held !== undefined)
    goals.push(atMost('memory at the end, to that at the start', FLAT_RATIO, held.endMib / held.startMib));
  return goals;
}

/** Medians over the rounds; ratios and differences are taken round by round, then their median. */
export function summarize(rounds: readonly Round[], memory: ByServer<Memory>, setup: Setup): Summary {
  const [shorts, longs, timed] = [
    rounds.map(({ short }) => short),
    rounds.map(({ long }) => long),
    rounds.map(({ latency: one }) => one),
  ];
  const there = (names: readonly string[]) => names.filter((name) => memory[name] !== undefined);
  const compared = there(COMPARED);
  const nginx = valuesOf(timed, NGINX);
  const over = valuesOf(timed, SOLWAY).map((one, at) => one.p99Ms - (nginx[at]?.p99Ms ?? 0));
  const summary = {
    ...settingOf(`npm run bench -- rpc --rounds ${rounds.length} --seconds ${setup.seconds}`),
    ...setup,
    rounds: rounds.length,
    short: byName(compared, (name) => throughput(shorts, name)),
    apart: byName(there([PIPELINED, CACHED, UNREAD]), (name) => throughput(shorts, name)),
    long: byName(compared, (name) => throughput(longs, name)),
    longApart: byName(there([NGINX_UNTUNED, UNREAD]), (name) => throughput(longs, name)),
    longToUntuned: ratioOf(longs, SOLWAY, NGINX_UNTUNED),
    latency: byName([...compared, NODE], (name) => latency(timed, name)),
    p99OverNginxMs: nginx.length === 0 ? null : spread(over),
    memory: byName(Object.keys(memory), (name) => ({
      ...(memory[name] as Memory),
      requests: requestsOf(rounds, name),
    })),
    nodeCost: costOfNode(rounds),
  };
  return { ...summary, goals: goalsOf(summary) };
}

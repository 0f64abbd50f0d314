import { goalsText } from '../goals.ts';
import { bar, settingText, spreadText } from '../table-text.ts';
import { type ByServer, NODE, work } from './measured.ts';
import type { Summary, Throughput } from './report.ts';

const NAME = 10;

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const thousands = (value: number): string => `${(value / 1_000).toFixed(value < 100_000 ? 2 : 1)} k`;
const ms = (value: number): string => `${value.toFixed(3)} ms`;
const added = (value: number): string => `${value < 0 ? '' : '+'}${ms(value)}`;

const ratiosOf = ({ toNginx, toNginxLua }: Throughput): string =>
  [
    ...(toNginx === null ? [] : [`${spreadText(toNginx)} × nginx`]),
    ...(toNginxLua === null ? [] : [`${spreadText(toNginxLua)} × nginx + Lua`]),
  ].join(', ');

function throughputLine(name: string, one: Throughput, best: number): string {
  const rate = one.requestsPerCpuSecond.median;
  return [
    `  ${name.padEnd(NAME)}${bar(rate, best)}`,
    thousands(rate).padStart(9),
    `  ${ratiosOf(one).padEnd(66)}`,
    `busy ${percent(one.busy).padStart(5)}`,
    `  p50 ${one.p50Ms.toFixed(2)} p99 ${one.p99Ms.toFixed(2)} ms`,
  ].join('');
}

function throughputLines(servers: ByServer<Throughput>, best: number): string[] {
  return Object.entries(servers).map(([name, one]) => throughputLine(name, one, best));
}

const bestOf = (servers: ByServer<Throughput>): number =>
  Math.max(...Object.values(servers).map(({ requestsPerCpuSecond }) => requestsPerCpuSecond.median));

function separateLines(apart: ByServer<Throughput>, beside: ByServer<Throughput>): string[] {
  const best = Math.max(bestOf(apart), bestOf(beside));
  return Object.entries(apart).flatMap(([name, one]) => [`  ${name}`, throughputLine('', one, best)]);
}

function latencyLines({ latency, p99OverLuaMs }: Summary): string[] {
  const names = Object.keys(latency).filter((name) => name !== NODE);
  const most = Math.max(0.001, ...names.map((name) => latency[name]?.addedP99Ms.median ?? 0));
  const lines = names.flatMap((name) => {
    const one = latency[name];
    if (one === undefined) return [];
    const { addedP50Ms, addedP99Ms } = one;
    const range = `[${added(addedP99Ms.min)} to ${added(addedP99Ms.max)}]`;
    const text = `  p50 ${added(addedP50Ms.median)}  p99 ${added(addedP99Ms.median)} ${range}`;
    return [`  ${name.padEnd(NAME)}${bar(Math.max(0, addedP99Ms.median), most)}${text}`];
  });
  if (p99OverLuaMs !== null)
    lines.push(`  p99 of solway minus nginx + Lua, per round: ${spreadText(p99OverLuaMs, 3)} ms`);
  return lines;
}

const memoryLines = ({ memory }: Summary): string[] =>
  Object.entries(memory).map(
    ([name, { startMib, endMib, requests }]) =>
      `  ${String(startMib).padStart(5)} → ${String(endMib).padStart(5)} MiB after ${(requests / 1e6).toFixed(2)} million requests  ${name}`,
  );

function nodeLines({ nodeCost, latency, bound }: Summary): string[] {
  const direct = latency[NODE];
  return [
    `  ${nodeCost.microsecondsPerRequest.toFixed(1)} µs of CPU per request; the CPU it shares with the load was ${percent(nodeCost.processorBusy)} busy`,
    `  called directly at the fixed rate: p50 ${ms(direct?.p50Ms ?? 0)}, p99 ${ms(direct?.p99Ms ?? 0)}; delay of the open loop at p99: ${ms(nodeCost.lateP99Ms)}`,
    ...(bound ? [] : ['  processes were not bound to CPUs: taskset is missing, or there is only one CPU']),
  ];
}

export function render(summary: Summary): string {
  const { versions, missing, rate, short, long, apart, longApart, longConnections } = summary;
  const warnings = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    '',
    `${settingText(summary, summary)}; ${warnings.join(', ')}`,
    ...Object.entries(missing).map(([name, command]) => `not measured: ${name} (${command})`),
    '',
    'proxied, one request in flight per connection to the node: requests per CPU second of the server',
    ...throughputLines(short, bestOf(short)),
    '',
    `responses of 1 MiB, ${longConnections} connections: responses per CPU second of the server`,
    ...throughputLines(long, bestOf(long)),
    '',
    `latency at ${rate} requests per second, added to the latency of the node`,
    ...latencyLines(summary),
    '',
    'resident memory after the warm-up and at the end',
    ...memoryLines(summary),
    '',
    'not directly comparable: the same requests',
    ...separateLines(apart, short),
    '',
    'not directly comparable: responses of 1 MiB',
    ...separateLines(longApart, long),
    '',
    'what each server does for a call',
    ...Object.entries(work).map(([name, text]) => `  ${name}: ${text}`),
    '',
    'the node',
    ...nodeLines(summary),
    '',
    goalsText(summary.goals),
    '',
  ].join('\n');
}

import { atLeast, atMost, type Goal, goalsText } from '../goals.ts';
import { type Setting, type Spread, settingOf, spread } from '../results.ts';
import type { FullLoad } from '../rpc/phases.ts';
import { bar, settingText, spreadText } from '../table-text.ts';
import { CLIENTS, type Counted, isOncePerSlot } from './head-methods.ts';

export const SOLWAY = 'solway';
export const NGINX_CACHE = 'nginx proxy_cache';
/** nginx proxy_cache with `open_file_cache`. */
export const NGINX_OPEN = 'nginx, open files';
export const NGINX = 'nginx';
/** Only reads and writes: the upper bound for a gateway on node:net. */
export const SAME = 'node:net alone';

/** Measurements of a round by server. */
export type Round = Readonly<Record<string, FullLoad>>;

export type Line = Readonly<{
  server: string;
  requestsPerCpuSecond: Spread;
  /** Ratio of solway to this server per round. */
  solwayRatio: Spread;
  busy: number;
  p50Ms: number;
  p99Ms: number;
  residentMib: number;
}>;

type Setup = Readonly<{ seconds: number; connections: number }>;

export type Summary = Setting &
  Setup &
  Readonly<{
    rounds: number;
    lines: readonly Line[];
    counted: readonly Counted[];
    goals: readonly Goal[];
  }>;

const median = (values: readonly number[]): number => spread(values).median;

function line(server: string, rounds: readonly Round[], residentMib: number): Line {
  const measured = (name: string): FullLoad[] => rounds.flatMap((round) => round[name] ?? []);
  const [own, solway] = [measured(server), measured(SOLWAY)];
  const rates = own.map((one) => one.requestsPerCpuSecond);
  return {
    server,
    requestsPerCpuSecond: spread(rates),
    solwayRatio: spread(solway.map((one, at) => one.requestsPerCpuSecond / (rates[at] ?? Number.NaN))),
    busy: median(own.map(({ busy }) => busy)),
    p50Ms: median(own.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(own.map(({ p99Ms }) => p99Ms)),
    residentMib,
  };
}

function goalsOf(lines: readonly Line[], counted: readonly Counted[]): Goal[] {
  const ratio = (server: string): number =>
    lines.find((one) => one.server === server)?.solwayRatio.median ?? Number.NaN;
  return [
    atLeast('hits per CPU second, relative to nginx proxy_cache', 1.5, ratio(NGINX_CACHE)),
    atLeast('hits per CPU second, relative to nginx without cache', 3, ratio(NGINX)),
    ...counted.map(({ method, calls, slots }) =>
      atMost(`${method} calls to the node per slot, for ${CLIENTS} clients`, 1, calls / slots),
    ),
  ];
}

/** Medians over the rounds; ratios are computed per round. */
export function summarize(
  rounds: readonly Round[],
  residentMib: Readonly<Record<string, number>>,
  counted: readonly Counted[],
  setup: Setup,
): Summary {
  const lines = Object.keys(residentMib).map((server) => line(server, rounds, residentMib[server] ?? 0));
  return {
    ...settingOf(`npm run bench -- cache --rounds ${rounds.length} --seconds ${setup.seconds}`),
    ...setup,
    rounds: rounds.length,
    lines,
    counted,
    goals: goalsOf(lines, counted),
  };
}

function rowOf(one: Line, best: number): string {
  const rate = one.requestsPerCpuSecond.median;
  return [
    `  ${one.server.padEnd(18)}${bar(rate, best)}`,
    String(Math.round(rate)).padStart(8),
    `  solway ratio ${spreadText(one.solwayRatio)}`.padEnd(36),
    `busy ${Math.round(one.busy * 100)} %`.padStart(10),
    `  p50 ${one.p50Ms.toFixed(2)} p99 ${one.p99Ms.toFixed(2)} ms`,
    `${one.residentMib} MiB`.padStart(9),
  ].join('');
}

function countedRow(one: Counted): string {
  const { method, requests, slots, calls, mostInOneSlot } = one;
  const result = isOncePerSlot(one) ? 'once per slot' : 'MORE THAN ONCE PER SLOT';
  return [
    `  ${method.padEnd(20)}`,
    `${requests} requests`.padStart(17),
    `${slots} slots`.padStart(10),
    `${calls} calls`.padStart(12),
    `${mostInOneSlot} at most in one slot`.padStart(26),
    `  ${result}`,
  ].join('');
}

export function render(summary: Summary): string {
  const best = Math.max(...summary.lines.map(({ requestsPerCpuSecond }) => requestsPerCpuSecond.median));
  return [
    '',
    settingText(summary, summary),
    '',
    'repeated reads of one account: requests per CPU second of the server',
    ...summary.lines.map((one) => rowOf(one, best)),
    '',
    `${CLIENTS} clients send the same call, by method: calls that reach the node`,
    ...summary.counted.map(countedRow),
    '',
    goalsText(summary.goals),
    '',
  ].join('\n');
}

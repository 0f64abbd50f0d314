import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, goalsText } from '../goals.ts';
import { type BenchOptions, publish, settingOf, spread } from '../results.ts';
import { settingText, spreadText } from '../table-text.ts';
import { startErpc } from './erpc.ts';
import { type Keys, makeKeys } from './keys.ts';
import { CACHED, ERPC, NGINX_LUA, SOLWAY, work } from './measured.ts';
import { warmUp } from './phases.ts';
import { bindsProcessors, cpuSeconds, endAll, residentMib } from './processes.ts';
import { rotated } from './rounds.ts';
import { shortScript } from './rpc.ts';
import { type Server, startGateway, startNginxLua, startResponder } from './servers.ts';
import { load, needWrk } from './wrk.ts';

const CONNECTIONS_PER_CPU = 64;

/** Share of perfect scaling that is required. */
const SCALING = 0.9;

type Measured = Readonly<{ perSecond: number; perCpuSecond: number }>;

/** A server with one worker per CPU, how it is loaded, and its results by round. */
type Candidate = Readonly<{
  server: Server;
  cpus: number;
  startMs: number;
  loadSettings: Readonly<{ script: string; connections: number; threads: number; cpus: string }>;
  measured: Measured[];
}>;

const rangeOf = (first: number, count: number): string => `${first}-${first + count - 1}`;

async function startAll(dir: string, keys: Keys, cpus: number, loadCpus: string): Promise<Candidate[]> {
  const node = await startResponder(loadCpus);
  const shared = { nodePort: node.port, keys, workers: cpus, cpus: rangeOf(0, cpus) };
  const environment = (name: string) => ({ ...shared, dir: join(dir, `${name}-${cpus}`) });
  const starts = [
    () => startGateway(SOLWAY, environment('solway')),
    () => startGateway(CACHED, environment('cached'), { usesCache: true }),
    () => startNginxLua(NGINX_LUA, environment('nginx-lua')),
    () => startErpc(ERPC, environment('erpc'), false),
  ];
  const candidates: Candidate[] = [];
  for (const start of starts) {
    const startedAt = performance.now();
    const server = await start();
    if (server === null) continue;
    const startMs = Math.round(performance.now() - startedAt);
    const [script, connections] = [shortScript(dir, server, keys), CONNECTIONS_PER_CPU * cpus];
    const loadSettings = { script, connections, threads: cpus, cpus: loadCpus };
    candidates.push({ server, cpus, startMs, loadSettings, measured: [] });
  }
  return candidates;
}

async function measure({ server, loadSettings, measured }: Candidate, seconds: number): Promise<void> {
  const pid = server.process.pid ?? 0;
  const [before, from] = [cpuSeconds(pid), performance.now()];
  const { requests } = await load(loadSettings.script, server, { ...loadSettings, seconds });
  const perSecond = (requests * 1_000) / (performance.now() - from);
  measured.push({ perSecond, perCpuSecond: requests / (cpuSeconds(pid) - before) });
}

/** Ratios compare with the same server on the first number of CPUs, per round. */
function resultOf({ server, cpus, startMs, measured }: Candidate, first: Candidate) {
  const valuesOf = (field: keyof Measured) => spread(measured.map((one) => one[field]));
  const ratiosOf = (field: keyof Measured, by = 1) =>
    spread(measured.map((one, at) => (by * one[field]) / (first.measured[at]?.[field] ?? 0)));
  return {
    ...{ name: server.name, cpus, startMs, memoryMib: residentMib(server.process.pid ?? 0) },
    ...{ perSecond: valuesOf('perSecond'), speedup: ratiosOf('perSecond') },
    perCpuSecond: valuesOf('perCpuSecond'),
    /** Ratio of requests per CPU second, times the ratio of CPUs. */
    capacityRatio: ratiosOf('perCpuSecond', cpus / first.cpus),
  };
}

type Result = ReturnType<typeof resultOf>;

const linesOf = (one: Result): string[] => [
  `  ${one.name}; CPUs and workers: ${one.cpus}`,
  `    ${(one.perSecond.median / 1_000).toFixed(1)} k per second, × ${spreadText(one.speedup)}; ` +
    `${(one.perCpuSecond.median / 1_000).toFixed(1)} k per CPU second, with all CPUs × ${spreadText(one.capacityRatio)}; ` +
    `ready after ${one.startMs} ms, ${one.memoryMib} MiB`,
];

const goalsOf = (results: readonly Result[], fewest: number) =>
  results
    .filter(({ name, cpus }) => cpus > fewest && (name === SOLWAY || name === CACHED))
    .flatMap(({ name, cpus, speedup, capacityRatio }) => {
      const [text, target] = [`${name}; CPUs: ${cpus}, × ${fewest}`, (SCALING * cpus) / fewest];
      return [
        atLeast(`${text}, per second`, target, speedup.median),
        atLeast(`${text}, per CPU second`, target, capacityRatio.median),
      ];
    });

function summarize(candidates: readonly Candidate[], counts: readonly number[], options: BenchOptions) {
  const results = candidates.map((candidate) =>
    resultOf(candidate, candidates.find(({ server }) => server.name === candidate.server.name) ?? candidate),
  );
  return {
    ...settingOf(`npm run bench -- rpc --cores ${counts.join(',')}`),
    ...{ rounds: options.rounds, seconds: options.seconds, connections: CONNECTIONS_PER_CPU },
    ...{ bound: bindsProcessors, results, goals: goalsOf(results, counts[0] ?? 1) },
  };
}

const render = (summary: ReturnType<typeof summarize>): string =>
  [
    '',
    `${settingText(summary, summary)} per CPU`,
    '',
    'distinct short calls; ratios are to the first number of CPUs, per round',
    ...summary.results.flatMap(linesOf),
    '',
    'what the figures mean',
    '  per second: if the machine has no further CPUs, the node and the load generator share those of the server, in',
    '  each line; the ratio is then that of all processes together',
    '  per CPU second: of all processes of the server. Times the number of CPUs, it is what they can do when nothing',
    '  else runs on them',
    '  other load on the machine lowers all ratios: compare them with those of nginx + Lua',
    ...(summary.bound ? [] : ['  processes were not bound to CPUs: taskset is missing, or there is one CPU']),
    ...[...new Set(summary.results.map(({ name }) => name))].map((name) => `  ${name}: ${work[name]}`),
    '',
    goalsText(summary.goals),
    '',
  ].join('\n');

/**
 * `npm run bench -- rpc --cores 1,2`: calls through the gateway as a proxy and by default, nginx with Lua, and eRPC,
 * with one worker per CPU, interleaved over several rounds.
 * @throws Error when the machine has fewer CPUs.
 */
export async function runCoresBench(options: BenchOptions, counts: readonly number[]): Promise<void> {
  needWrk();
  const [all, most] = [availableParallelism(), Math.max(...counts)];
  if (!(most <= all)) throw new Error(`--cores: this machine has ${all} CPUs`);
  const dir = mkdtempSync(join(tmpdir(), 'solway-bench-'));
  try {
    const keys = await makeKeys(join(dir, 'keys'));
    const candidates: Candidate[] = [];
    for (const cpus of counts) {
      const loadCpus = most === all ? rangeOf(0, cpus) : rangeOf(most, all - most);
      candidates.push(...(await startAll(dir, keys, cpus, loadCpus)));
    }
    for (const { server, loadSettings } of candidates) await warmUp(server, loadSettings);
    for (let round = 0; round < options.rounds; round++) {
      process.stderr.write(`round ${round + 1} of ${options.rounds}\n`);
      for (const candidate of rotated(candidates, round)) await measure(candidate, options.seconds);
    }
    publish('rpc-cores', summarize(candidates, counts, options), options, render);
  } finally {
    await endAll();
    rmSync(dir, { recursive: true, force: true });
  }
}

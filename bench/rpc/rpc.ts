import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { record } from '../results.ts';
import { writeNginxConfig } from './nginx.ts';
import { cpuSeconds, endAll, findProgram, firstLine, freePort, residentMib, spawnOn } from './processes.ts';
import { type Measured, render, summarize } from './report.ts';
import { load, writeLoadScript } from './wrk.ts';

export type BenchOptions = Readonly<{ rounds: number; seconds: number; record: boolean; json: boolean }>;

/** Processors: what is measured gets one to itself; the load and the upstream share the other. */
const SERVER_CPU = 0;
const LOAD_CPU = 1;
const CONNECTIONS = 64;
/** So long is everyone loaded before anything is measured: compilers and caches settle. */
const WARM_UP_SECONDS = 8;
const KEYS = 8;

const here = import.meta.dirname;
const main = join(here, '..', '..', 'src', 'cli', 'main.ts');

type Variant = Readonly<{ name: string; port: number; process: ChildProcess }>;

/** The gateway as the README starts it, in front of the responder, with no rate limit in the way. */
async function startGateway(dir: string, upstreamPort: number): Promise<Variant & { keys: string[] }> {
  const config = join(dir, 'solway.toml');
  writeFileSync(
    config,
    `data_dir = "${join(dir, 'data')}"\n[plans.default]\nrpc_per_second = 0\n[log]\nlevel = "warn"\n[server]\nport = 0\n[grpc]\nport = 0\n`,
  );
  const child = spawnOn(SERVER_CPU, process.execPath, [
    ...[main, 'up', '--json', '--config', config, '--upstream', `http://127.0.0.1:${upstreamPort}`],
  ]);
  const ready = await firstLine(child, (line) =>
    line.startsWith('{"event":"ready"')
      ? (JSON.parse(line) as { url: string; keys: { product: string; key: string }[] })
      : null,
  );
  const keys = ready.keys.filter(({ product }) => product === 'rpc').map(({ key }) => key);
  while (keys.length < KEYS) keys.push(createKey(config));
  return { name: 'solway', port: Number(new URL(ready.url).port), process: child, keys };
}

function createKey(config: string): string {
  const args = [main, 'keys', 'create', '--name', 'bench', '--product', 'rpc', '--json', '--config', config];
  const made = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as { secret: string };
  return made.secret;
}

async function startNginx(
  dir: string,
  upstreamPort: number,
  keys: readonly string[],
): Promise<Variant | null> {
  const program = findProgram('nginx');
  if (program === null) return null;
  const port = await freePort();
  const child = spawnOn(SERVER_CPU, program, [
    '-p',
    dir,
    '-c',
    writeNginxConfig(dir, port, upstreamPort, keys),
  ]);
  return { name: 'nginx', port, process: child };
}

async function startResponder(): Promise<Variant> {
  const child = spawnOn(LOAD_CPU, process.execPath, [join(here, 'responder.ts')]);
  const port = await firstLine(child, (line) => (/^\d+$/.test(line) ? Number(line) : null));
  return { name: 'direct', port, process: child };
}

/** One round of one variant: full load for throughput per CPU second, then one connection for latency. */
async function measure(variant: Variant, script: string, seconds: number): Promise<Measured> {
  const pid = variant.process.pid ?? 0;
  const before = cpuSeconds(pid);
  const full = await load(script, { port: variant.port, connections: CONNECTIONS, seconds, cpu: LOAD_CPU });
  const cpu = cpuSeconds(pid) - before;
  const single = await load(script, {
    port: variant.port,
    connections: 1,
    seconds: Math.max(1, Math.round(seconds / 2)),
    cpu: LOAD_CPU,
  });
  if (full.failures + single.failures > 0) {
    throw new Error(`${variant.name} failed ${full.failures + single.failures} requests: nothing to compare`);
  }
  return {
    variant: variant.name,
    requestsPerCpuSecond: full.requests / cpu,
    requestsPerSecond: full.requests / seconds,
    loaded: { p50Ms: full.p50Ms, p99Ms: full.p99Ms },
    single: { p50Ms: single.p50Ms, p99Ms: single.p99Ms },
    residentMib: residentMib(pid),
  };
}

/**
 * `npm run bench -- rpc`: the same call under rotating keys through the gateway, through nginx with a key map,
 * and straight to the upstream, in turn, several times. Ratios are taken round by round.
 */
export async function runRpcBench(options: BenchOptions): Promise<void> {
  if (findProgram('wrk') === null) throw new Error('wrk is not installed: apt-get install -y wrk');
  const dir = mkdtempSync(join(tmpdir(), 'solway-bench-'));
  try {
    const direct = await startResponder();
    const gateway = await startGateway(dir, direct.port);
    const nginx = await startNginx(dir, direct.port, gateway.keys);
    if (nginx === null) {
      process.stderr.write('nginx is not installed: comparing with the direct upstream only\n');
    }

    const script = writeLoadScript(dir, '/v1/rpc', gateway.keys);
    const variants = [gateway, ...(nginx === null ? [] : [nginx]), direct];
    for (const variant of variants)
      await load(script, {
        port: variant.port,
        connections: CONNECTIONS,
        seconds: WARM_UP_SECONDS,
        cpu: LOAD_CPU,
      });

    const measured: Measured[][] = [];
    for (let round = 1; round <= options.rounds; round++) {
      process.stderr.write(`round ${round} of ${options.rounds}\n`);
      const results: Measured[] = [];
      for (const variant of variants) results.push(await measure(variant, script, options.seconds));
      measured.push(results);
    }
    const summary = summarize(measured, { connections: CONNECTIONS, seconds: options.seconds });
    process.stdout.write(options.json ? `${JSON.stringify(summary, null, 2)}\n` : render(summary));
    if (options.record) process.stderr.write(`recorded in ${record('rpc', summary)}\n`);
  } finally {
    await endAll();
    rmSync(dir, { recursive: true, force: true });
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { record } from '../results.ts';
import { cpuSeconds, endAll, findProgram, residentMib } from '../rpc/processes.ts';
import { load, writeLoadScript } from '../rpc/wrk.ts';
import { type Counted, type Measured, render, summarize } from './report.ts';
import { SlotNode } from './slot-node.ts';
import { LOAD_CPU, startGateway, startNginx, startResponder, type Variant } from './variants.ts';

export type BenchOptions = Readonly<{ rounds: number; seconds: number; record: boolean; json: boolean }>;

const CONNECTIONS = 64;
/** So long is everyone loaded before anything is measured: compilers and caches settle. */
const WARM_UP_SECONDS = 8;
const KEYS = 8;
/** Clients of the count, each on a connection of its own. */
const CLIENTS = 1_000;
/** What the load asks for: bench/rpc/wrk.ts. */
const METHOD = 'getAccountInfo';

/** Loads a variant; one that fails a request is compared with nothing. */
async function loaded({ name, port }: Variant, script: string, connections: number, seconds: number) {
  const result = await load(script, { port, connections, seconds, cpu: LOAD_CPU });
  if (result.failures > 0) throw new Error(`${name} failed ${result.failures} requests: nothing to compare`);
  return result;
}

async function measure(variant: Variant, script: string, seconds: number): Promise<Measured> {
  const pid = variant.process.pid ?? 0;
  const before = cpuSeconds(pid);
  const { requests, p50Ms, p99Ms } = await loaded(variant, script, CONNECTIONS, seconds);
  return {
    variant: variant.name,
    requestsPerCpuSecond: requests / (cpuSeconds(pid) - before),
    requestsPerSecond: requests / seconds,
    ...{ p50Ms, p99Ms },
    residentMib: residentMib(pid),
  };
}

/** How many calls reach a node while a thousand clients ask it the same, slot after slot. */
async function count(dir: string, seconds: number): Promise<Counted> {
  const node = new SlotNode();
  try {
    const gateway = await startGateway(dir, await node.listen(), KEYS);
    const script = writeLoadScript(dir, '/v1/rpc', gateway.keys);
    const [slot, calls] = [node.slot, node.countOf(METHOD)];
    const { requests } = await loaded(gateway, script, CLIENTS, seconds);
    const [slots, upstreamCalls] = [node.slot - slot + 1, node.countOf(METHOD) - calls];
    if (upstreamCalls > slots) throw new Error(`${upstreamCalls} calls reached the node in ${slots} slots`);
    return { clients: CLIENTS, seconds, requests, slots, upstreamCalls };
  } finally {
    node.close();
  }
}

async function rounds(variants: readonly Variant[], script: string, { rounds, seconds }: BenchOptions) {
  for (const variant of variants) await loaded(variant, script, CONNECTIONS, WARM_UP_SECONDS);
  const measured: Measured[][] = [];
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`round ${round} of ${rounds}\n`);
    const results: Measured[] = [];
    for (const variant of variants) results.push(await measure(variant, script, seconds));
    measured.push(results);
  }
  return measured;
}

/**
 * `npm run bench -- cache`: one account asked for again and again, through the gateway, which asks its node once a slot;
 * through nginx with `proxy_cache`, which never asks again; and through nginx that asks each time. Then how many calls
 * reach a node for a thousand clients.
 */
export async function runCacheBench(options: BenchOptions): Promise<void> {
  if (findProgram('wrk') === null) throw new Error('wrk is not installed: apt-get install -y wrk');
  const dir = mkdtempSync(join(tmpdir(), 'solway-bench-'));
  try {
    const { port } = await startResponder();
    const gateway = await startGateway(join(dir, 'solway'), port, KEYS);
    const { keys } = gateway;
    const variants = [
      gateway,
      await startNginx('nginx proxy_cache', join(dir, 'cached'), port, keys, true),
      await startNginx('nginx', join(dir, 'plain'), port, keys, false),
    ];
    const script = writeLoadScript(dir, '/v1/rpc', keys);
    const measured = await rounds(variants, script, options);
    await endAll();
    const counted = await count(join(dir, 'count'), options.seconds);
    const summary = summarize(measured, counted, { connections: CONNECTIONS, seconds: options.seconds });
    process.stdout.write(options.json ? `${JSON.stringify(summary, null, 2)}\n` : render(summary));
    if (options.record) process.stderr.write(`recorded in ${record('cache', summary)}\n`);
  } finally {
    await endAll();
    rmSync(dir, { recursive: true, force: true });
  }
}

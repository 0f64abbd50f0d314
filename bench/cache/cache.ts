import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchOptions, publish } from '../results.ts';
import { type Keys, makeKeys } from '../rpc/keys.ts';
import { fullLoad, warmUp } from '../rpc/phases.ts';
import { endAll, residentMib, SERVER_CPU } from '../rpc/processes.ts';
import { rotated } from '../rpc/rounds.ts';
import { type Server, startGateway, startNginx, startResponder, startScript } from '../rpc/servers.ts';
import { needWrk, writeLoadScript } from '../rpc/wrk.ts';
import { countHeadMethods, isOncePerSlot } from './head-methods.ts';
import { NGINX, NGINX_CACHE, NGINX_OPEN, type Round, render, SAME, SOLWAY, summarize } from './report.ts';

const CONNECTIONS = 64;
const OPEN_FILE_CACHE = 'open_file_cache max=4096 inactive=60s; open_file_cache_valid 60s;';
/** Memory file system, the fastest place for the nginx cache. */
const MEMORY_DIR = '/dev/shm';

async function startAll(dir: string, keys: Keys): Promise<{ node: Server; servers: Server[] }> {
  const node = await startResponder();
  const environment = (name: string) => ({ dir: join(dir, name), nodePort: node.port, keys });
  const template = join(import.meta.dirname, 'nginx.conf');
  const servers = [
    await startGateway(SOLWAY, environment('solway'), { usesCache: true }),
    await startNginx(NGINX_CACHE, environment('cached'), template, { OPEN_FILES: '' }),
    await startNginx(NGINX_OPEN, environment('open'), template, { OPEN_FILES: OPEN_FILE_CACHE }),
    await startNginx(NGINX, environment('plain')),
    await startScript(SAME, SERVER_CPU, join(import.meta.dirname, 'same-response.ts')),
  ].filter((server) => server !== null);
  if (servers.length < 5) throw new Error('nginx is not installed: apt-get install -y nginx-light');
  return { node, servers };
}

async function compare(
  dir: string,
  keys: Keys,
  { rounds, seconds }: BenchOptions,
): Promise<{ rounds: Round[]; residentMib: Record<string, number> }> {
  const { node, servers } = await startAll(dir, keys);
  const params =
    '["So11111111111111111111111111111111111111112",{"encoding":"base64","commitment":"confirmed"}]';
  const loadOptions = { file: join(dir, 'hot.lua'), keys: keys.secrets, method: 'getAccountInfo', params };
  const script = writeLoadScript(loadOptions);
  for (const server of servers) await warmUp(server, { script, connections: CONNECTIONS });
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    const found: Record<string, Round[string]> = {};
    for (const server of rotated(servers, round))
      found[server.name] = await fullLoad(server, node, { script, connections: CONNECTIONS, seconds });
    measured.push(found);
  }
  const memory = servers.map(({ name, process }) => [name, residentMib(process.pid ?? 0)] as const);
  return { rounds: measured, residentMib: Object.fromEntries(memory) };
}

/**
 * `npm run bench -- cache`: repeated reads of one account through the gateway (one upstream call per slot), through nginx
 * with `proxy_cache` (one in total), through nginx without cache, and from node:net with a fixed response. Then the
 * calls that reach a node when a thousand clients send the same call. Fails if that is more than one per slot.
 */
export async function runCacheBench(options: BenchOptions): Promise<void> {
  needWrk();
  const dir = mkdtempSync(join(existsSync(MEMORY_DIR) ? MEMORY_DIR : tmpdir(), 'solway-bench-'));
  try {
    const keys = await makeKeys(join(dir, 'keys'));
    const { rounds, residentMib } = await compare(dir, keys, options);
    await endAll();
    const { seconds } = options;
    const counted = await countHeadMethods(join(dir, 'count'), keys, seconds);
    const summary = summarize(rounds, residentMib, counted, { seconds, connections: CONNECTIONS });
    publish('cache', summary, options, render);
    if (!counted.every(isOncePerSlot)) process.exitCode = 1;
  } finally {
    await endAll();
    rmSync(dir, { recursive: true, force: true });
  }
}

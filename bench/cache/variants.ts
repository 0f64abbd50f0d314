import { type ChildProcess, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeNginxConfig } from '../rpc/nginx.ts';
import { findProgram, firstLine, freePort, spawnOn } from '../rpc/processes.ts';

/** Processors: what is measured gets one to itself; the load and the upstream share the other. */
export const SERVER_CPU = 0;
export const LOAD_CPU = 1;

const root = join(import.meta.dirname, '..', '..');
const main = join(root, 'src', 'cli', 'main.ts');

export type Variant = Readonly<{ name: string; port: number; process: ChildProcess }>;
export type Gateway = Variant & Readonly<{ keys: readonly string[] }>;

/** The gateway as it is by default, in front of one node, with no rate limit in the way. */
export async function startGateway(dir: string, upstreamPort: number, keysCount: number): Promise<Gateway> {
  mkdirSync(dir, { recursive: true });
  const config = join(dir, 'solway.toml');
  writeFileSync(
    config,
    `data_dir = "${join(dir, 'data')}"\n[plans.default]\nrpc_per_second = 0\n[log]\nlevel = "warn"\n[server]\nport = 0\n[grpc]\nport = 0\n`,
  );
  const url = `http://127.0.0.1:${upstreamPort}`;
  const args = [main, 'up', '--json', '--config', config, '--upstream', url];
  const child = spawnOn(SERVER_CPU, process.execPath, args);
  const ready = await firstLine(child, (line) =>
    line.startsWith('{"event":"ready"')
      ? (JSON.parse(line) as { url: string; keys: { product: string; key: string }[] })
      : null,
  );
  const keys = ready.keys.filter(({ product }) => product === 'rpc').map(({ key }) => key);
  while (keys.length < keysCount) keys.push(createKey(config));
  return { name: 'solway', port: Number(new URL(ready.url).port), process: child, keys };
}

function createKey(config: string): string {
  const args = [main, 'keys', 'create', '--name', 'bench', '--product', 'rpc', '--json', '--config', config];
  const made = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as { secret: string };
  return made.secret;
}

/** The same node for every question, as cheap as can be. */
export async function startResponder(): Promise<Variant> {
  const child = spawnOn(LOAD_CPU, process.execPath, [join(root, 'bench', 'rpc', 'responder.ts')]);
  const port = await firstLine(child, (line) => (/^\d+$/.test(line) ? Number(line) : null));
  return { name: 'direct', port, process: child };
}

/** What its manual has for answers to POST: the body is the key, and stays in memory. */
function withCache(dir: string, file: string): string {
  const config = readFileSync(file, 'utf8');
  const path = `  proxy_cache_path ${dir}/cache levels=1:2 keys_zone=hot:10m max_size=100m inactive=1h use_temp_path=off;`;
  const location = [
    'proxy_cache hot;',
    'proxy_cache_methods POST;',
    'proxy_cache_key "$request_uri|$request_body";',
    'proxy_cache_valid 200 1h;',
    'proxy_cache_lock on;',
    'client_body_in_single_buffer on;',
    'client_body_buffer_size 16k;',
  ];
  return (
    config
      // Its worker must read the folder that whoever runs this has made.
      .replace('daemon off;', process.getuid?.() === 0 ? 'daemon off;\nuser root;' : 'daemon off;')
      .replace('http {', `http {\n${path}`)
      .replace('proxy_pass http://node;', ['proxy_pass http://node;', ...location].join('\n      '))
  );
}

/** nginx with a map of keys; with a cache, every request after the first is a hit. */
export async function startNginx(
  name: string,
  dir: string,
  upstreamPort: number,
  keys: readonly string[],
  isCached: boolean,
): Promise<Variant> {
  const program = findProgram('nginx');
  if (program === null) throw new Error('nginx is not installed: apt-get install -y nginx-light');
  const port = await freePort();
  const file = writeNginxConfig(dir, port, upstreamPort, keys);
  if (isCached) writeFileSync(file, withCache(dir, file));
  return { name, port, process: spawnOn(SERVER_CPU, program, ['-p', dir, '-c', file]) };
}

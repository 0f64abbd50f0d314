import { type ChildProcess, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PipeliningOption } from '../../src/upstream/http-client/pipelining.ts';
import { type Blanks, writeConfigFile } from './config-file.ts';
import { copyKeys, type Keys, METHOD_NAMES } from './keys.ts';
import { NODE } from './measured.ts';
import { type Cpus, findProgram, firstLine, freePort, LOAD_CPU, SERVER_CPU, spawnOn } from './processes.ts';
import type { Authorize } from './wrk.ts';

const here = import.meta.dirname;
const main = join(here, '..', '..', 'src', 'cli', 'main.ts');

/** A measured server, or the node. */
export type Server = Readonly<{
  name: string;
  port: number;
  process: ChildProcess;
  /** How it expects keys, if not as bearer tokens. */
  authorize?: Authorize;
}>;

export type GatewaySettings = Readonly<{
  /** Default caching and coalescing; otherwise both are disabled. */
  usesCache?: boolean;
  /** Requests in flight per connection to the node. Defaults to the default of the gateway. */
  pipelining?: PipeliningOption;
}>;

export type Environment = Readonly<{
  dir: string;
  nodePort: number;
  keys: Keys;
  /** Default 1. */
  workers?: number;
  /** Default SERVER_CPU. */
  cpus?: Cpus;
}>;

export async function startGateway(
  name: string,
  { dir, nodePort, keys, workers = 1, cpus = SERVER_CPU }: Environment,
  { usesCache = false, pipelining = 'auto' }: GatewaySettings = {},
): Promise<Server> {
  const blanks = {
    ...{ DIR: dir, CACHE: usesCache, NODE_PORT: nodePort, WORKERS: workers },
    PIPELINING: JSON.stringify(pipelining),
  };
  const config = writeConfigFile(join(here, 'solway.toml'), dir, blanks);
  copyKeys(keys, dir);
  const child = spawnOn(cpus, process.execPath, [main, 'up', '--json', '--config', config]);
  const port = await firstLine(child, (line) =>
    line.startsWith('{"event":"ready"')
      ? Number(new URL((JSON.parse(line) as { url: string }).url).port)
      : null,
  );
  return { name, port, process: child };
}

/** Starts a script that prints its port. */
export async function startScript(
  name: string,
  cpus: Cpus,
  script: string,
  args: readonly string[] = [],
): Promise<Server> {
  const child = spawnOn(cpus, process.execPath, [script, ...args]);
  const port = await firstLine(child, (line) => (/^\d+$/.test(line) ? Number(line) : null));
  return { name, port, process: child };
}

export const startResponder = (cpus: Cpus = LOAD_CPU): Promise<Server> =>
  startScript(NODE, cpus, join(here, 'responder.ts'));

export const startUnread = (name: string, { port }: Server): Promise<Server> =>
  startScript(name, SERVER_CPU, join(here, 'unread.ts'), [String(port)]);

/** If this runs as root, nginx's worker must also be root to read the files. */
const nginxUser = (): string => (process.getuid?.() === 0 ? 'user root;' : '');

/** Long responses use large memory buffers, never a file. */
const LARGE_BUFFERS = 'proxy_buffers 16 64k; proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;';

/**
 * Starts nginx with a map of keys, and with large buffers unless `blanks.BUFFERS` differs.
 * @returns null if it is not installed.
 */
export async function startNginx(
  name: string,
  { dir, nodePort, keys, workers = 1, cpus = SERVER_CPU }: Environment,
  template = join(here, 'nginx.conf'),
  blanks: Blanks = {},
): Promise<Server | null> {
  const program = findProgram('nginx');
  if (program === null) return null;
  const port = await freePort();
  const file = writeConfigFile(template, dir, {
    ...{ DIR: dir, USER: nginxUser(), PORT: port, NODE_PORT: nodePort, WORKERS: workers },
    BUFFERS: LARGE_BUFFERS,
    ...blanks,
  });
  writeLines(join(dir, 'nginx-keys.map'), keys, (key) => `"Bearer ${key}" 1;`);
  return listening({ name, port, process: spawnOn(cpus, program, ['-p', dir, '-c', file]) });
}

/** Folder of Debian's nginx modules. */
const MODULES = '/usr/lib/nginx/modules';

/** Starts nginx with Lua doing the gateway's work per call. @returns null if it is not installed. */
export async function startNginxLua(name: string, environment: Environment): Promise<Server | null> {
  if (!existsSync(join(MODULES, 'ngx_http_lua_module.so'))) return null;
  const { dir, keys } = environment;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'keys.txt'), `${keys.secrets.join('\n')}\n`);
  const METHODS = METHOD_NAMES.map((method) => `"${method}"`).join(', ');
  return startNginx(name, environment, join(here, 'nginx-lua.conf'), { MODULES, METHODS });
}

/** Starts HAProxy with a map of keys. @returns null if it is not installed. */
export async function startHaproxy(
  name: string,
  { dir, nodePort, keys }: Environment,
): Promise<Server | null> {
  const program = findProgram('haproxy');
  if (program === null) return null;
  const port = await freePort();
  const blanks = { DIR: dir, PORT: port, NODE_PORT: nodePort };
  const file = writeConfigFile(join(here, 'haproxy.cfg'), dir, blanks);
  writeLines(join(dir, 'haproxy-keys.map'), keys, (key) => `${key} 1`);
  return listening({ name, port, process: spawnOn(SERVER_CPU, program, ['-db', '-q', '-f', file]) });
}

function writeLines(file: string, { secrets }: Keys, line: (key: string) => string): void {
  writeFileSync(file, `${secrets.map(line).join('\n')}\n`);
}

const LISTENS_WITHIN_MS = 15_000;

/** Waits until the server accepts connections and gives an acceptable response. */
export async function listening(
  server: Server,
  path = '/v1/rpc',
  isAcceptable: (response: Response) => boolean = () => true,
): Promise<Server> {
  const until = performance.now() + LISTENS_WITHIN_MS;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`).catch(() => null);
    await response?.body?.cancel();
    if (response !== null && isAcceptable(response)) return server;
    if (server.process.exitCode !== null || performance.now() > until)
      throw new Error(`${server.name} does not listen`);
    await sleep(20);
  }
}

/** Version of a program; null if it is not installed. */
export function versionOf(name: string): string | null {
  const program = findProgram(name);
  if (program === null) return null;
  // nginx prints its version to standard error.
  const text = execFileSync('sh', ['-c', `"${program}" -v 2>&1`], { encoding: 'utf8' });
  return /\d+\.\d+[\w.+-]*/.exec(text)?.[0] ?? 'unknown';
}

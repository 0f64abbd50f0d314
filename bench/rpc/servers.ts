import { type ChildProcess, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Blanks, writeConfigFile } from './config-file.ts';
import { copyKeys, type Keys } from './keys.ts';
import { NODE } from './measured.ts';
import { findProgram, firstLine, freePort, LOAD_CPU, SERVER_CPU, spawnOn } from './processes.ts';

const here = import.meta.dirname;
const main = join(here, '..', '..', 'src', 'cli', 'main.ts');

/** A server that is measured, or the node. */
export type Server = Readonly<{ name: string; port: number; process: ChildProcess }>;

/** How a gateway asks its node. */
export type GatewaySettings = Readonly<{
  /** Whether it keeps answers, and lets calls that ask the same share one, as it does by default. */
  usesCache?: boolean;
  /** Requests that may be under way on one connection to the node. */
  pipelining?: number;
}>;

type Environment = Readonly<{ dir: string; nodePort: number; keys: Keys }>;

/** The gateway in front of one node. */
export async function startGateway(
  name: string,
  { dir, nodePort, keys }: Environment,
  { usesCache = false, pipelining = 1 }: GatewaySettings = {},
): Promise<Server> {
  const blanks = { DIR: dir, SPARES: usesCache, NODE_PORT: nodePort, PIPELINING: pipelining };
  const config = writeConfigFile(join(here, 'solway.toml'), dir, blanks);
  copyKeys(keys, dir);
  const child = spawnOn(SERVER_CPU, process.execPath, [main, 'up', '--json', '--config', config]);
  const port = await firstLine(child, (line) =>
    line.startsWith('{"event":"ready"')
      ? Number(new URL((JSON.parse(line) as { url: string }).url).port)
      : null,
  );
  return { name, port, process: child };
}

/** A script that prints the port where it listens. */
export async function startScript(
  name: string,
  cpu: number,
  script: string,
  args: readonly string[] = [],
): Promise<Server> {
  const child = spawnOn(cpu, process.execPath, [script, ...args]);
  const port = await firstLine(child, (line) => (/^\d+$/.test(line) ? Number(line) : null));
  return { name, port, process: child };
}

/** The same answers to every question, as cheap as can be. */
export const startResponder = (): Promise<Server> => startScript(NODE, LOAD_CPU, join(here, 'responder.ts'));

/** Passes bytes on, and knows nothing of them. */
export const startUnread = (name: string, { port }: Server): Promise<Server> =>
  startScript(name, SERVER_CPU, join(here, 'unread.ts'), [String(port)]);

/** Who runs this may be root: nginx's worker must read what was written here. */
const nginxUser = (): string => (process.getuid?.() === 0 ? 'user root;' : '');

/** Long answers go through memory in large pieces, never over a disk. */
const LARGE_BUFFERS = 'proxy_buffers 16 64k; proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;';

/**
 * nginx with a map of keys, and buffers for long answers unless the blank BUFFERS says otherwise.
 * @param template - its configuration. @param blanks - what is to be filled in there besides.
 * @returns null where it is not installed.
 */
export async function startNginx(
  name: string,
  { dir, nodePort, keys }: Environment,
  template = join(here, 'nginx.conf'),
  blanks: Blanks = {},
): Promise<Server | null> {
  const program = findProgram('nginx');
  if (program === null) return null;
  const port = await freePort();
  const file = writeConfigFile(template, dir, {
    ...{ DIR: dir, USER: nginxUser(), PORT: port, NODE_PORT: nodePort, BUFFERS: LARGE_BUFFERS },
    ...blanks,
  });
  writeLines(join(dir, 'nginx-keys.map'), keys, (key) => `"Bearer ${key}" 1;`);
  return listening({ name, port, process: spawnOn(SERVER_CPU, program, ['-p', dir, '-c', file]) });
}

/** HAProxy with a map of keys. @returns null where it is not installed. */
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

const LISTENS_WITHIN_MS = 5_000;

/** The server once it takes connections. */
async function listening(server: Server): Promise<Server> {
  const until = performance.now() + LISTENS_WITHIN_MS;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/rpc`).catch(() => null);
    await response?.body?.cancel();
    if (response !== null) return server;
    if (server.process.exitCode !== null || performance.now() > until)
      throw new Error(`${server.name} does not listen`);
    await sleep(20);
  }
}

/** What the program says of its version; null where it is not installed. */
export function versionOf(name: string): string | null {
  const program = findProgram(name);
  if (program === null) return null;
  // nginx tells it on standard error.
  const text = execFileSync('sh', ['-c', `"${program}" -v 2>&1`], { encoding: 'utf8' });
  return /\d+\.\d+[\w.+-]*/.exec(text)?.[0] ?? 'unknown';
}

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { temporaryFolder } from '../../service/program.ts';

/** Path of an installed Redis or Valkey server, or null. */
export const redisProgram: string | null =
  ['redis-server', 'valkey-server']
    .flatMap((name) => (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name)))
    .find((file) => existsSync(file)) ?? null;

export type RedisServer = Readonly<{
  url: string;
  kill(): Promise<void>;
  /** Restarts on the same port, without data. */
  start(): Promise<void>;
  pause(): void;
  goOn(): void;
  destroy(): Promise<void>;
}>;

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('data', (data) => end(data.toString().startsWith('+PONG')));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}

async function untilReady(port: number): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (await answers(port)) return;
    await delay(25);
  }
  throw new Error('Redis did not come up');
}

function ended(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

export async function startRedis(program: string | null = redisProgram): Promise<RedisServer> {
  if (program === null) throw new Error('neither redis-server nor valkey-server is installed');
  const folder = temporaryFolder('redis');
  const port = await freePort();
  let child: ChildProcess | null = null;
  const start = async () => {
    const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    child = spawn(program, [...settings, '--dir', folder], { stdio: 'ignore', cwd: folder });
    await untilReady(port);
  };
  const kill = async () => {
    const gone = ended(child);
    child?.kill('SIGKILL');
    await gone;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    pause: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
    async destroy() {
      await kill();
    },
  };
}

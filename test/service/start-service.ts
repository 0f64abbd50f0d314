import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What `solway up --json` prints when it is ready. */
export type Ready = Readonly<{
  event: 'ready';
  url: string;
  rpcUrl: string;
  /** Present at the first start only. */
  keys: readonly Readonly<{ product: 'rpc' | 'grpc' | 'fs'; id: string; key: string }>[];
}>;

export type RunningService = Readonly<{
  ready: Ready;
  /** The RPC key of the first start. */
  key: string;
  dataDir: string;
  process: ChildProcess;
  /** Everything the program wrote so far, both streams. */
  output: () => string;
  /** SIGTERM, then the exit code. */
  stop: () => Promise<number | null>;
}>;

export type ServiceOptions = Readonly<{
  /** Lines of configuration (TOML). */
  configuration?: string;
  dataDir?: string;
  arguments?: readonly string[];
  /** How long it may take to become ready. */
  timeoutMs?: number;
}>;

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

const created = new Set<string>();
process.on('exit', () => {
  for (const dir of created) rmSync(dir, { recursive: true, force: true });
});

/** A new empty folder that is removed when the test process ends. */
export function temporaryFolder(prefix: string): string {
  const dir = mkdtempSync(join(tmpdir(), `solway-${prefix}-`));
  created.add(dir);
  return dir;
}

function readyLine(child: ChildProcess, output: () => string, timeoutMs: number): Promise<Ready> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => fail('was not ready in time'), timeoutMs);
    const fail = (what: string) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new Error(`the service ${what}; it wrote:\n${output()}`));
    };
    child.once('exit', (code) => fail(`ended with ${code}`));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (!line.startsWith('{"event":"ready"')) return;
      clearTimeout(timer);
      child.removeAllListeners('exit');
      resolve(JSON.parse(line) as Ready);
    });
  });
}

/** Starts the real program in a folder of its own, on a free port, and waits until it answers. */
export async function startService(options: ServiceOptions = {}): Promise<RunningService> {
  const dataDir = options.dataDir ?? temporaryFolder('service');
  const config = join(temporaryFolder('config'), 'solway.toml');
  writeFileSync(config, options.configuration ?? '[localnet]\nslot_ms = 50\n');
  const child = spawn(
    process.execPath,
    [
      main,
      'up',
      '--json',
      '--port',
      '0',
      '--data-dir',
      dataDir,
      '--config',
      config,
      ...(options.arguments ?? []),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, DATABASE_URL: undefined } },
  );
  let written = '';
  child.stdout.on('data', (chunk) => (written += chunk));
  child.stderr.on('data', (chunk) => (written += chunk));
  const output = () => written;
  const ready = await readyLine(child, output, options.timeoutMs ?? 30_000);
  const stop = () =>
    new Promise<number | null>((resolve) => {
      if (child.exitCode !== null) return resolve(child.exitCode);
      child.once('exit', (code) => resolve(code));
      child.kill('SIGTERM');
    });
  const key = ready.keys.find(({ product }) => product === 'rpc')?.key ?? '';
  return { ready, key, dataDir, process: child, output, stop };
}

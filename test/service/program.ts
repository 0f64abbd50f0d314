import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const repository = join(import.meta.dirname, '..', '..');

const sourceOf = (clone: string): string => join(clone, 'src', 'cli', 'main.ts');

/** The program to start: bundled in tests, otherwise the sources. */
export const programFile: string = process.env.TESTED_PROGRAM ?? sourceOf(repository);

const created = new Set<string>();
process.on('exit', () => {
  for (const dir of created) rmSync(dir, { recursive: true, force: true });
});

/** Creates a folder that is removed when the test process exits. */
export function temporaryFolder(prefix: string): string {
  const dir = mkdtempSync(join(tmpdir(), `solway-${prefix}-`));
  created.add(dir);
  return dir;
}

/** Excludes settings of the machine; the gRPC server binds a free port. */
export const ownEnvironment = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(SOLWAY_.*|DATABASE_URL|NODE_OPTIONS|VITEST.*)$/.test(name),
    ),
  ),
  SOLWAY_GRPC_PORT: '0',
  SOLWAY_INTERNAL_LIMITS: 'allow',
};

/** The real program, running as a process. */
export type Program = Readonly<{
  process: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  output: () => string;
  /** Waits for text on standard output. @throws Error on exit or timeout. */
  said: (pattern: RegExp, timeoutMs?: number) => Promise<RegExpExecArray>;
  /** The exit code; null after a signal. */
  ended: Promise<number | null>;
  stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}>;

export type LaunchOptions = Readonly<{
  /** Starts it as a process group leader, as a shell does. */
  ownGroup?: boolean;
  /** Root of a clone, whose sources are started. */
  clone?: string;
  /** Network namespace. */
  namespace?: string;
}>;

/** Starts `solway …` in an empty folder. */
export function startProgram(
  args: readonly string[],
  folder = temporaryFolder('program'),
  { ownGroup = false, clone, namespace }: LaunchOptions = {},
): Program {
  const command = [process.execPath, clone === undefined ? programFile : sourceOf(clone), ...args];
  if (namespace !== undefined) command.unshift('ip', 'netns', 'exec', namespace);
  const child = spawn(command[0]!, command.slice(1), {
    cwd: folder,
    env: ownEnvironment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: ownGroup,
  });
  const written = { out: '', err: '', both: '' };
  const keep = (name: 'out' | 'err') => (chunk: Buffer) => {
    written[name] += chunk;
    written.both += chunk;
  };
  child.stdout.on('data', keep('out'));
  child.stderr.on('data', keep('err'));
  const ended = once(child, 'close').then(([code]) => code as number | null);

  const said = (pattern: RegExp, timeoutMs = 30_000): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const fail = (what: string): void => {
        child.kill('SIGKILL');
        finish();
        reject(new Error(`the program ${what}; it wrote:\n${written.both}`));
      };
      const timer = setTimeout(() => fail('was not ready in time'), timeoutMs);
      const check = (): void => {
        const found = pattern.exec(written.out);
        if (found === null) return;
        finish();
        resolve(found);
      };
      const onEnd = (code: number | null): void => fail(`ended with ${code}`);
      const finish = (): void => {
        clearTimeout(timer);
        child.stdout.off('data', check);
        child.off('close', onEnd);
      };
      child.stdout.on('data', check);
      child.once('close', onEnd);
      check();
    });

  return {
    process: child,
    stdout: () => written.out,
    stderr: () => written.err,
    output: () => written.both,
    said,
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** The process that holds the lock of a ledger folder, or null. */
export function ledgerPid(dataDir: string): number | null {
  try {
    return (JSON.parse(readFileSync(join(dataDir, 'ledger', 'ledger.lock'), 'utf8')) as { pid: number }).pid;
  } catch {
    return null;
  }
}

/** Whether the process exists and is not a zombie. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, getPriority } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, it } from 'vitest';
import { temporaryFolder } from './program.ts';
import { startService, writeConfiguration } from './start-service.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const START_MS = 120_000;
/** Nice values: of the parent process, and lower. */
const AS_ALL = getPriority();
const BEHIND = Math.min(19, AS_ALL + 10);
const WORKERS_MAX = 64;
const NO_LEDGER = `
  [grpc]
  enabled = false
  [[upstream]]
  url = "http://127.0.0.1:9/"
  ws = "off"
`;

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0)) await one();
});

/** Distinct priorities of a process's V8 helper threads. */
function helpersOf(pid: number): number[] {
  const tasks = `/proc/${pid}/task`;
  const helpers = readdirSync(tasks).filter((task) =>
    readFileSync(`${tasks}/${task}/comm`, 'utf8').startsWith('V8Worker'),
  );
  return [...new Set(helpers.map((task) => getPriority(Number(task))))];
}

const firstProcessor = (): string =>
  /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;

/** `solway up` on one processor. @returns the process when ready. */
async function startOnOne(): Promise<number> {
  const up = ['up', '--json', '--port', '0', '--data-dir', temporaryFolder('one')];
  const program = [process.execPath, MAIN, ...up, '--config', writeConfiguration(NO_LEDGER)];
  const child = spawn('taskset', ['-c', firstProcessor(), ...program], {
    cwd: temporaryFolder('one'),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  undo.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  for await (const line of createInterface(child.stdout)) if (line.startsWith('{"event":"ready"')) break;
  return child.pid!;
}

it(
  'a service with one processor answers before V8 compiles and collects garbage concurrently',
  async () => {
    const pid = await startOnOne();
    expect(helpersOf(pid)).toEqual([BEHIND]);
    expect(getPriority(pid)).toBe(AS_ALL);
  },
  START_MS,
);

it.skipIf(availableParallelism() > WORKERS_MAX)(
  'so do workers, one per processor, unlike the primary, which serves no requests',
  async () => {
    const workers = Math.max(2, availableParallelism());
    const many = ['--workers', String(workers)];
    const service = await startService({ arguments: many, timeoutMs: START_MS, configuration: NO_LEDGER });
    undo.push(() => service.stop());
    const primary = service.process.pid!;
    const children = readFileSync(`/proc/${primary}/task/${primary}/children`, 'utf8').trim().split(' ');
    expect(children).toHaveLength(workers);
    for (const worker of children) expect(helpersOf(Number(worker))).toEqual([BEHIND]);
    expect(helpersOf(primary)).toEqual([AS_ALL]);
  },
  START_MS,
);

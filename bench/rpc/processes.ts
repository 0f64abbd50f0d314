import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Whether a program is on the PATH or in the places where Debian puts servers. */
export function findProgram(name: string): string | null {
  try {
    return execFileSync('sh', ['-c', `PATH="$PATH:/usr/sbin:/sbin" command -v ${name}`], {
      encoding: 'utf8',
    }).trim();
  } catch {
    return null;
  }
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

const started = new Set<ChildProcess>();

/** Starts a program bound to one processor; `endAll` ends it. */
export function spawnOn(cpu: number, command: string, args: readonly string[]): ChildProcess {
  const child = spawn('taskset', ['-c', String(cpu), command, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.add(child);
  return child;
}

/** Starts a script bound to one processor, with a channel for messages; `endAll` ends it. */
export function forkOn(
  cpu: number,
  script: string,
  flags: readonly string[] = [],
  args: readonly string[] = [],
): ChildProcess {
  const child = spawn('taskset', ['-c', String(cpu), process.execPath, ...flags, script, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  started.add(child);
  return child;
}

/** Ends everything that was started here. */
export async function endAll(): Promise<void> {
  await Promise.all([...started].map(end));
  started.clear();
}

/** The first line of output for which `pick` gives a value. */
export function firstLine<T>(child: ChildProcess, pick: (line: string) => T | null): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const picked = pick(line);
      if (picked !== null) resolve(picked);
    });
  });
}

function children(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

/** CPU seconds (user and system) that a process and its children have used so far. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return children(pid).reduce((sum, child) => sum + cpuSeconds(child), own);
}

/** Resident memory of a process in MiB. */
export function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

/** Ends a child and waits until it is gone. */
function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

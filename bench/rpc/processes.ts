import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';

/** CPUs: the measured server has one; load generator and node share the other. */
export const SERVER_CPU = 0;
export const LOAD_CPU = 1;

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Path of a program on PATH or in /usr/sbin; null if missing. */
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

const taskset = findProgram('taskset');

/** Whether processes can be bound to CPUs, with one for each side. */
export const bindsProcessors = taskset !== null && availableParallelism() > LOAD_CPU;

/** A CPU, or a list or range of CPUs. */
export type Cpus = number | string;

/** A command bound to CPUs, if possible. */
export const boundTo = (
  cpus: Cpus,
  command: string,
  args: readonly string[],
): readonly [command: string, args: string[]] =>
  taskset !== null && bindsProcessors
    ? [taskset, ['-c', String(cpus), command, ...args]]
    : [command, [...args]];

const started = new Set<ChildProcess>();

/** Starts a program bound to CPUs; `endAll` stops it. */
export function spawnOn(cpus: Cpus, command: string, args: readonly string[]): ChildProcess {
  const child = spawn(...boundTo(cpus, command, args), { stdio: ['ignore', 'pipe', 'inherit'] });
  started.add(child);
  return child;
}

/** Starts a script bound to a CPU, with an IPC channel; `endAll` stops it. */
export function forkOn(
  cpu: number,
  script: string,
  flags: readonly string[] = [],
  args: readonly string[] = [],
): ChildProcess {
  const child = spawn(...boundTo(cpu, process.execPath, [...flags, script, ...args]), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  started.add(child);
  return child;
}

/** Stops all started processes. */
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

/** A process and its descendants. */
function tree(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [pid, ...(text === '' ? [] : text.split(' ').map(Number)).flatMap(tree)];
  } catch {
    return [pid];
  }
}

function ownCpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function ownResidentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** CPU seconds (user and system) that a process and its children have used so far. */
export const cpuSeconds = (pid: number): number => sum(tree(pid).map(ownCpuSeconds));

/** Resident memory of a process and its children in MiB. */
export const residentMib = (pid: number): number => Math.round(sum(tree(pid).map(ownResidentMib)));

/** Time of a CPU since boot, in ticks. */
export type ProcessorTime = Readonly<{ idle: number; all: number }>;

export function processorTime(cpu: number): ProcessorTime {
  const text = new RegExp(`^cpu${cpu} (.*)$`, 'm').exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '';
  // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already.
  const times = text.split(' ').slice(0, 8).map(Number);
  return { idle: (times[3] ?? 0) + (times[4] ?? 0), all: sum(times) };
}

/** Share of time since then that a CPU was busy, 0 to 1. */
export function busyShare(cpu: number, since: ProcessorTime): number {
  const { idle, all } = processorTime(cpu);
  return all === since.all ? 0 : 1 - (idle - since.idle) / (all - since.all);
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

import { readdirSync, readFileSync } from 'node:fs';
import { cpuMsOf } from '../service/cpu-time.ts';

/** Process statistics of Linux, and helpers for them. */

function residentMibOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Open files and sockets. @throws when the process does not run. */
export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Time that the main thread was runnable but waited for a processor. */
const waitedForProcessorMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** The value that this share of sorted numbers does not exceed, as an integer; 0 for none. */
export const percentile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);

/** Ratio of the later half to the earlier half; NaN for fewer than two numbers. */
export function growthOf(numbers: readonly number[]): number {
  const half = Math.floor(numbers.length / 2);
  return half === 0 ? Number.NaN : median(numbers.slice(half)) / median(numbers.slice(0, half));
}

/** Bars of medians, at most `width`. */
export function sparkline(numbers: readonly number[], width = 60): string {
  const step = Math.max(1, Math.ceil(numbers.length / width));
  const medians = Array.from({ length: Math.ceil(numbers.length / step) }, (_, at) =>
    median(numbers.slice(at * step, (at + 1) * step)),
  );
  const top = Math.max(...medians, 1);
  return medians.map((value) => '▁▂▃▄▅▆▇█'[Math.min(7, Math.floor((value / top) * 8))]).join('');
}

/** Samples memory, descriptors and processor time of a process once a second. Linux only. */
export class Gauge {
  /** Resident memory, one value per second. */
  readonly memoryMib: number[] = [];
  readonly descriptors: number[] = [];
  /** Time that it waited for a processor, one value per second. */
  readonly waitedMsEach: number[] = [];
  /** A sample failed: the process has ended. */
  isGone = false;
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  readonly #cpuBefore: number;
  readonly #waitedBefore: number;

  constructor(pid: number) {
    this.#pid = pid;
    this.#cpuBefore = cpuMsOf(pid);
    this.#waitedBefore = waitedForProcessorMs(pid);
    this.#timer = setInterval(() => this.#sample(), 1_000);
  }

  get cpuShare(): number {
    return (cpuMsOf(this.#pid) - this.#cpuBefore) / (performance.now() - this.#startedAt);
  }

  get waitedMs(): number {
    return Math.round(waitedForProcessorMs(this.#pid) - this.#waitedBefore);
  }

  growth(from: number): number {
    return growthOf(this.memoryMib.slice(from));
  }

  get summary(): string {
    const { memoryMib } = this;
    const range = `${Math.min(...memoryMib)} to ${Math.max(...memoryMib)} MiB`;
    return `memory of the gateway ${sparkline(memoryMib)} ${range}; ${(this.cpuShare * 100).toFixed(0)} % of a core`;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    try {
      this.descriptors.push(descriptorsOf(this.#pid));
      this.memoryMib.push(Math.round(residentMibOf(this.#pid)));
      const waitedBefore = this.waitedMsEach.reduce((sum, ms) => sum + ms, 0);
      this.waitedMsEach.push(this.waitedMs - waitedBefore);
    } catch {
      this.isGone = true;
    }
  }
}

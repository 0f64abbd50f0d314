import { readFileSync } from 'node:fs';

/** Hundredths of a second, as Linux counts the processor's time. */
const TICKS_PER_SECOND = 100;

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** A line of bars, the lowest to the highest. */
export function sparkline(numbers: readonly number[], width = 60): string {
  const step = Math.max(1, Math.ceil(numbers.length / width));
  const means = Array.from({ length: Math.ceil(numbers.length / step) }, (_, at) =>
    median(numbers.slice(at * step, (at + 1) * step)),
  );
  const top = Math.max(...means, 1);
  return means.map((value) => '▁▂▃▄▅▆▇█'[Math.min(7, Math.floor((value / top) * 8))]).join('');
}

/** What the later half of numbers lies above the earlier half, as a factor; NaN for fewer than two. */
export function growthOf(numbers: readonly number[]): number {
  const half = Math.floor(numbers.length / 2);
  return half === 0 ? Number.NaN : median(numbers.slice(half)) / median(numbers.slice(0, half));
}

/** The memory that a process has. Linux only. */
export function residentMibOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Looks at the memory and the processor time of a process, once a second. Linux only. */
export class Gauge {
  /** Resident, of each second. */
  readonly memoryMib: number[] = [];
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  readonly #cpuBefore: number;

  constructor(pid: number) {
    this.#pid = pid;
    this.#cpuBefore = this.#cpuSeconds();
    this.#timer = setInterval(() => this.memoryMib.push(Math.round(residentMibOf(pid))), 1_000);
  }

  /** Seconds of processor time for each second that went by. */
  get cpuShare(): number {
    return ((this.#cpuSeconds() - this.#cpuBefore) * 1_000) / (performance.now() - this.#startedAt);
  }

  /** What the later part of the seconds from one on lies above the earlier part, as a factor. */
  growth(from: number): number {
    return growthOf(this.memoryMib.slice(from));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #cpuSeconds(): number {
    const stat = readFileSync(`/proc/${this.#pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  }
}

import { descriptorsOf, median, residentMibOf, waitedForProcessorMs } from '../../programs/process-stats.ts';
import { cpuMsOf } from '../../service/cpu-time.ts';

/** Memory and event loop, as reported by a process itself. */
export type Inside = Readonly<{ heapMib: number; externalMib: number; loopDelayMs: number }>;

/** Resources of a process in a period; null if it does not report them. */
export type ProcessWindow = Readonly<{
  /** Start in seconds. */
  from: number;
  /** Processor seconds per second. */
  cpuShare: number;
  /** Seconds of waiting for a processor per second. */
  waitedShare: number;
  /** Medians. */
  residentMib: number;
  heapMib: number | null;
  externalMib: number | null;
  /** Maximum p99 of the event loop delay. */
  loopDelayMs: number | null;
  /** Open files and sockets. */
  descriptors: number;
}>;

export type ProcessFigures = Readonly<{ name: string; windows: readonly ProcessWindow[] }>;

export type ProcessOptions = Readonly<{
  name: string;
  /** null while it does not run. */
  pid: () => number | null;
  /** Called once a second; null if unknown. */
  inside: () => Inside | null;
}>;

type Sample = Readonly<{ residentMib: number; descriptors: number; inside: Inside | null }>;

const SAMPLE_MS = 1_000;

const insides = (samples: readonly Sample[], member: keyof Inside): number[] =>
  samples.flatMap(({ inside }) => (inside === null ? [] : [inside[member]]));

const medianOrNull = (numbers: readonly number[]): number | null =>
  numbers.length === 0 ? null : median(numbers);

/** Samples a process once a second and aggregates windows. Linux only. */
export class ProcessWatch {
  readonly name: string;
  readonly windows: ProcessWindow[] = [];
  /** Missing or replaced process. */
  readonly faults: string[] = [];
  readonly #options: ProcessOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #pid: number | null;
  #samples: Sample[] = [];
  #cpuMs: number;
  #waitedMs: number;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.#pid = options.pid();
    this.#cpuMs = this.#pid === null ? 0 : cpuMsOf(this.#pid);
    this.#waitedMs = this.#pid === null ? 0 : waitedForProcessorMs(this.#pid);
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  endWindow(from: number, seconds: number): void {
    const samples = this.#samples;
    this.#samples = [];
    if (samples.length === 0 || this.#pid === null || this.faults.length > 0) return;
    const [cpuBefore, waitedBefore] = [this.#cpuMs, this.#waitedMs];
    this.#cpuMs = cpuMsOf(this.#pid);
    this.#waitedMs = waitedForProcessorMs(this.#pid);
    const delays = insides(samples, 'loopDelayMs');
    this.windows.push({
      from,
      cpuShare: (this.#cpuMs - cpuBefore) / (seconds * 1_000),
      waitedShare: (this.#waitedMs - waitedBefore) / (seconds * 1_000),
      residentMib: median(samples.map(({ residentMib }) => residentMib)),
      heapMib: medianOrNull(insides(samples, 'heapMib')),
      externalMib: medianOrNull(insides(samples, 'externalMib')),
      loopDelayMs: delays.length === 0 ? null : Math.max(...delays),
      descriptors: median(samples.map(({ descriptors }) => descriptors)),
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  get figures(): ProcessFigures {
    return { name: this.name, windows: this.windows };
  }

  #sample(): void {
    const pid = this.#options.pid();
    if (pid === null || pid !== this.#pid) {
      this.#note(pid === null ? 'gone' : `now ${pid}`);
      return;
    }
    try {
      const [residentMib, descriptors] = [residentMibOf(pid), descriptorsOf(pid)];
      this.#samples.push({ residentMib, descriptors, inside: this.#options.inside() });
    } catch {
      this.#note('gone');
    }
  }

  /** Reports a persistent fault once. */
  #note(what: string): void {
    const fault = `process ${this.#pid} is ${what}`;
    if (this.faults.at(-1) !== fault) this.faults.push(fault);
  }
}

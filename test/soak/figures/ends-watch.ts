import { descriptorsOf, median } from '../../programs/process-stats.ts';

/** Descriptors of a process beyond those at the other ends of its connections, in a period. */
export type EndsWindow = Readonly<{
  /** Start in seconds. */
  from: number;
  /** Median; negative if the others have more. */
  beyond: number;
}>;

export type EndsOptions = Readonly<{
  /** null while it does not run. */
  pid: () => number | null;
  /** Processes at the other ends of its connections. */
  others: readonly (() => number | null)[];
}>;

const SAMPLE_MS = 1_000;

/**
 * Counts, once a second, descriptors of a process beyond those of other processes. A connection between them adds one
 * socket to each side: the difference is constant until a connection is open at one end only. Linux only.
 */
export class EndsWatch {
  readonly windows: EndsWindow[] = [];
  readonly #options: EndsOptions;
  readonly #timer: NodeJS.Timeout;
  #samples: number[] = [];

  constructor(options: EndsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  endWindow(from: number): void {
    const samples = this.#samples;
    this.#samples = [];
    if (samples.length > 0) this.windows.push({ from, beyond: median(samples) });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** `ProcessWatch` reports a process that is gone. */
  #sample(): void {
    const { pid, others } = this.#options;
    try {
      const [own, ...theirs] = [pid, ...others].map((of) => descriptorsOf(of() ?? 0));
      this.#samples.push(theirs.reduce((beyond, open) => beyond - open, own ?? 0));
    } catch {
      return;
    }
  }
}

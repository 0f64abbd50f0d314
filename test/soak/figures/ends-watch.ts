import { descriptorsOf, median } from '../../programs/process-stats.ts';

/** What a process had open beyond what those at the other ends of its connections had, in a stretch of time. */
export type EndsWindow = Readonly<{
  /** When it began, in seconds. */
  from: number;
  /** Median; below 0 where they have more. */
  beyond: number;
}>;

export type EndsOptions = Readonly<{
  /** null while it does not run. */
  pid: () => number | null;
  /** Of all who are at the other ends of its connections. */
  others: readonly (() => number | null)[];
}>;

const LOOK_MS = 1_000;

/**
 * Counts, once a second and in one breath, what a process has open beyond what others have. With every connection of a
 * client or to a node it has one socket more, and so has whoever is at its other end: what it has beyond them stays the
 * same, however many connections there are, until one end of a connection stays open alone. Linux only.
 */
export class EndsWatch {
  readonly windows: EndsWindow[] = [];
  readonly #options: EndsOptions;
  readonly #timer: NodeJS.Timeout;
  #looks: number[] = [];

  constructor(options: EndsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  endWindow(from: number): void {
    const looks = this.#looks;
    this.#looks = [];
    if (looks.length > 0) this.windows.push({ from, beyond: median(looks) });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** That one of them is gone is told by who looks at it alone. */
  #look(): void {
    const { pid, others } = this.#options;
    try {
      const [own, ...theirs] = [pid, ...others].map((of) => descriptorsOf(of() ?? 0));
      this.#looks.push(theirs.reduce((beyond, open) => beyond - open, own ?? 0));
    } catch {
      return;
    }
  }
}

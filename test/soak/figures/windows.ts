import type { ServiceGauges } from '../report/soak-result.ts';
import type { Tally } from './tally.ts';

/** A sampler that aggregates windows. */
export type Watch = Readonly<{ endWindow: (from: number, seconds: number) => void; stop: () => void }>;

export type WindowsOptions = Readonly<{
  tallies: readonly Tally[];
  watches: readonly Watch[];
  /** Gauges of the service at the end of a window. */
  gauges: (second: number) => ServiceGauges;
  /** Called at the end of each window. */
  ended: (second: number) => void;
}>;

const WINDOW_MS = 10_000;
/** A shorter last window is dropped. */
const LAST_MIN_MS = 3_000;

/** Ends the windows of all tallies and watches every ten seconds. */
export class Windows {
  readonly gauges: ServiceGauges[] = [];
  readonly #options: WindowsOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #from = performance.now();

  constructor(options: WindowsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#end(), WINDOW_MS);
  }

  /** @returns duration in seconds. */
  stop(): number {
    clearInterval(this.#timer);
    if (performance.now() - this.#from >= LAST_MIN_MS) this.#end();
    for (const watch of this.#options.watches) watch.stop();
    return (performance.now() - this.#startedAt) / 1_000;
  }

  #end(): void {
    const { tallies, watches, gauges, ended } = this.#options;
    const now = performance.now();
    const from = (this.#from - this.#startedAt) / 1_000;
    const seconds = (now - this.#from) / 1_000;
    this.#from = now;
    for (const tally of tallies) tally.endWindow(from, seconds);
    for (const watch of watches) watch.endWindow(from, seconds);
    this.gauges.push(gauges(from));
    ended(from + seconds);
  }
}

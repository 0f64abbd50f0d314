import { setTimeout as sleep } from 'node:timers/promises';
import { descriptorsOf } from './descriptors.ts';

const LOOK_MS = 250;

/** Open files and sockets of a process that nobody asks anything; null where it did not run, or not any more. */
export type Unasked = Readonly<{ name: string; before: number | null; after: number | null }>;

export type UnaskedOptions = Readonly<{
  name: string;
  /** null while it does not run. */
  pid: () => number | null;
  /** How long it may take to close what it keeps for a while in case somebody comes again. */
  closedWithinMs: number;
}>;

/** Counts what a process has open before anybody asks it, and again when the last has gone. */
export class UnaskedWatch {
  readonly #options: UnaskedOptions;
  readonly #pid: number | null;
  readonly #before: number | null;

  /** Counts at once. */
  constructor(options: UnaskedOptions) {
    this.#options = options;
    this.#pid = options.pid();
    this.#before = this.#count();
  }

  /** Waits until it has no more open than before; says what it has when the time for that is over. */
  async afterwards(): Promise<Unasked> {
    const { name, closedWithinMs } = this.#options;
    const before = this.#before;
    const until = performance.now() + closedWithinMs;
    let after = this.#count();
    while (before !== null && after !== null && after > before && performance.now() < until) {
      await sleep(LOOK_MS);
      after = this.#count();
    }
    return { name, before, after };
  }

  /** null also for another process in its place: what the first had open went with it. */
  #count(): number | null {
    const pid = this.#options.pid();
    try {
      return pid === null || pid !== this.#pid ? null : descriptorsOf(pid);
    } catch {
      return null;
    }
  }
}

import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 250;

/** Open files and sockets of a process. Linux only. @throws when it does not run. */
export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Open files and sockets of a process that nobody asks anything; null where it did not run. */
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
  readonly #before: number | null;

  /** Counts at once. */
  constructor(options: UnaskedOptions) {
    this.#options = options;
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

  #count(): number | null {
    const pid = this.#options.pid();
    try {
      return pid === null ? null : descriptorsOf(pid);
    } catch {
      return null;
    }
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 250;

/** What a process has open while nobody asks it anything; null where that cannot be counted. */
export type IdleCount = Readonly<{
  name: string;
  /** Such as `when all have gone`. */
  when: string;
  before: number | null;
  after: number | null;
}>;

export type IdleCountOptions = Readonly<{
  name: string;
  when: string;
  /** null while it does not run. */
  pid: () => number | null;
  /** How many files and sockets of a process. @throws when it does not run. */
  count: (pid: number) => number;
  /** How long it may take to close what it keeps for a while in case somebody comes again. */
  closedWithinMs: number;
}>;

/** Counts what a process has open before anybody asks it, and again when nobody does any more. */
export class IdleCountWatch {
  readonly #options: IdleCountOptions;
  readonly #pid: number | null;
  readonly #before: number | null;

  /** Counts at once. */
  constructor(options: IdleCountOptions) {
    this.#options = options;
    this.#pid = options.pid();
    this.#before = this.#count();
  }

  /** Waits until it has no more open than before; says what it has when the time for that is over. */
  async afterwards(): Promise<IdleCount> {
    const { name, when, closedWithinMs } = this.#options;
    const before = this.#before;
    const until = performance.now() + closedWithinMs;
    let after = this.#count();
    while (before !== null && after !== null && after > before && performance.now() < until) {
      await sleep(LOOK_MS);
      after = this.#count();
    }
    return { name, when, before, after };
  }

  /** null also for another process in its place: what the first had open went with it. */
  #count(): number | null {
    const pid = this.#options.pid();
    try {
      return pid === null || pid !== this.#pid ? null : this.#options.count(pid);
    } catch {
      return null;
    }
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 250;

/** Descriptors of an idle process; null if unknown. */
export type IdleCount = Readonly<{
  name: string;
  /** Such as `after all clients disconnected`. */
  when: string;
  before: number | null;
  after: number | null;
}>;

export type IdleCountOptions = Readonly<{
  name: string;
  when: string;
  /** null while it does not run. */
  pid: () => number | null;
  /** Number of files and sockets. @throws when it does not run. */
  count: (pid: number) => number;
  /** Time to close idle connections. */
  closedWithinMs: number;
}>;

/** Counts descriptors of a process before and after the load. */
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

  /** Waits for a limited time until there are no more than before. */
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

  /** null also for another process in its place. */
  #count(): number | null {
    const pid = this.#options.pid();
    try {
      return pid === null || pid !== this.#pid ? null : this.#options.count(pid);
    } catch {
      return null;
    }
  }
}

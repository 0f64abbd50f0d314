import { randomUUID } from 'node:crypto';
import type { Store } from './database/store.ts';
import { FailureState, type OnState } from './failure-state.ts';
import { PeriodicTask } from './periodic-task.ts';
import { acquireLease } from './usage/usage-lease.ts';

type LeasedTaskOptions = Readonly<{
  store: Store;
  /** Name of the lease. */
  lease: string;
  leaseMs: number;
  intervalMs: number;
  onState: OnState;
  /** Returns Unix milliseconds. */
  now: () => number;
}>;

/** A periodic task that only one gateway does at a time. Its work starts with `renewLease`. */
export class LeasedTask {
  readonly #options: LeasedTaskOptions;
  readonly #holder = randomUUID();
  readonly #task: PeriodicTask;
  isStopped = false;

  constructor(options: LeasedTaskOptions, work: () => Promise<void>) {
    this.#options = options;
    const state = new FailureState(options.onState);
    this.#task = new PeriodicTask(() => state.guard(work), options.intervalMs);
  }

  start(): void {
    this.#task.start();
  }

  runOnce(): Promise<void> {
    return this.#task.run();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.#task.stop();
  }

  /** Acquires or renews the lease. @returns false also while the task stops. */
  async renewLease(): Promise<boolean> {
    if (this.isStopped) return false;
    const { store, lease, now, leaseMs } = this.#options;
    return acquireLease(store, lease, this.#holder, now(), leaseMs);
  }
}

import { randomUUID } from 'node:crypto';
import type { Store } from '../database/store.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { PeriodicTask } from '../periodic-task.ts';
import { stepMs } from '../usage/read-usage.ts';
import { acquireLease } from '../usage/usage-lease.ts';
import type { StatementOptions } from './billing-options.ts';
import { monthAt, previousMonth } from './month.ts';
import { closeMonths, type StatementSigner } from './statement.ts';

type StatementCloserParts = Readonly<{
  store: Store;
  signer: StatementSigner;
  options: StatementOptions;
  onState: OnState;
  now?: () => number;
}>;

const LEASE = 'billing statements';

/** Writes the statements of ended months, in one gateway at a time. */
export class StatementCloser {
  readonly #parts: StatementCloserParts;
  readonly #holder = randomUUID();
  readonly #now: () => number;
  readonly #task: PeriodicTask;
  #isStopped = false;
  /** The day of the last complete run. */
  #doneDay = -1;

  constructor(parts: StatementCloserParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
    const state = new FailureState(parts.onState);
    this.#task = new PeriodicTask(() => state.guard(() => this.#close()), parts.options.checkIntervalMs);
  }

  start(): void {
    this.#task.start();
  }

  runOnce(): Promise<void> {
    return this.#task.run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#task.stop();
  }

  /**
   * Also closes the month before the last, in case no gateway has run since its end. Once both are closed, runs again
   * every day, for late usage of customers that had nothing to state.
   */
  async #close(): Promise<void> {
    const { store, signer, options } = this.#parts;
    const atMs = this.#now() - options.closeDelayMs;
    const day = Math.floor(atMs / stepMs.day);
    if (day === this.#doneDay || !(await this.#hasLease())) return;
    const last = previousMonth(monthAt(atMs));
    for (const month of [previousMonth(last), last])
      if (!(await closeMonths(store, signer, month, this.#now(), () => this.#hasLease()))) return;
    this.#doneDay = day;
  }

  async #hasLease(): Promise<boolean> {
    if (this.#isStopped) return false;
    const { store, options } = this.#parts;
    return acquireLease(store, LEASE, this.#holder, this.#now(), options.leaseMs);
  }
}

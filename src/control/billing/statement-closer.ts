import type { Store } from '../database/store.ts';
import type { OnState } from '../failure-state.ts';
import { LeasedTask } from '../leased-task.ts';
import { stepMs } from '../usage/read-usage.ts';
import type { StatementOptions } from './billing-options.ts';
import { monthAt, previousMonth } from './month.ts';
import { closeMonth, type StatementSigner } from './statement.ts';

type StatementCloserParts = Readonly<{
  store: Store;
  signer: StatementSigner;
  options: StatementOptions;
  onState: OnState;
  now?: () => number;
}>;

/** Writes the statements of ended months, in one gateway at a time. */
export class StatementCloser extends LeasedTask {
  readonly #parts: StatementCloserParts;
  readonly #now: () => number;
  /** The day of the last complete run. */
  #doneDay = -1;

  constructor({ now = Date.now, ...parts }: StatementCloserParts) {
    const { checkIntervalMs: intervalMs, leaseMs } = parts.options;
    super({ ...parts, now, lease: 'billing statements', leaseMs, intervalMs }, () => this.#close());
    this.#parts = parts;
    this.#now = now;
  }

  /**
   * Also closes the month before the last, in case no gateway has run since its end. Once both are closed, runs again
   * every day, for late usage of customers that had nothing to state.
   */
  async #close(): Promise<void> {
    const { store, signer, options } = this.#parts;
    const atMs = this.#now() - options.closeDelayMs;
    const day = Math.floor(atMs / stepMs.day);
    if (day === this.#doneDay || !(await this.renewLease())) return;
    const last = previousMonth(monthAt(atMs));
    for (const month of [previousMonth(last), last])
      if (!(await closeMonth(store, signer, month, this.#now(), () => this.renewLease()))) return;
    this.#doneDay = day;
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../api/api-error.ts';
import type { Store } from '../database/open.ts';
import { firstIdAt } from './entry-id.ts';
import { type LogFilter, readLog, showEntry } from './read-log.ts';

/** How requests are followed as they come. */
export type TailLimits = Readonly<{
  /** Followers in one process. */
  tailsMax: number;
  /** Those of one customer. */
  customerTailsMax: number;
  pollIntervalMs: number;
  /** Entries told at a look; when there are more, the newest. */
  rowsMax: number;
  /** How far a look reaches back: entries of other gateways may be written so late. */
  reachMs: number;
}>;

/** What holds when nothing else is said. */
export const tailLimits: TailLimits = {
  tailsMax: 50,
  customerTailsMax: 10,
  pollIntervalMs: 500,
  rowsMax: 500,
  reachMs: 5_000,
};

/** Who follows the log as it grows, over all gateways: by looking for newer rows. */
export class LogTails {
  readonly #limits: TailLimits;
  readonly #open = new Map<string, number>();
  #count = 0;

  constructor(limits: Partial<TailLimits> = {}) {
    this.#limits = { ...tailLimits, ...limits };
  }

  /**
   * Entries as JSON from now on, each as the control API shows it, until the signal. Who sends them fills the silence.
   * @throws ApiError 429 when there are followers enough.
   */
  follow(
    store: Store,
    customerId: string,
    filter: Omit<LogFilter, 'from' | 'to'>,
    now: () => number,
    signal: AbortSignal,
  ): AsyncIterable<string> {
    signal.throwIfAborted();
    this.#take(customerId);
    // Not by the end of the events: whoever has left may never have begun to read them.
    signal.addEventListener('abort', () => this.#giveBack(customerId), { once: true });
    return this.#entries(store, customerId, filter, now, signal);
  }

  async *#entries(
    store: Store,
    customerId: string,
    filter: Omit<LogFilter, 'from' | 'to'>,
    now: () => number,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const { pollIntervalMs, rowsMax, reachMs } = this.#limits;
    const begunAt = now();
    /** Ids that were told and would be found again. */
    const told = new Set<string>();
    while (!signal.aborted) {
      const from = Math.max(begunAt, now() - reachMs);
      const range = { ...filter, from, to: Number.MAX_SAFE_INTEGER };
      const rows = await readLog(store, customerId, range, rowsMax, null).catch(() => []);
      const fresh = rows.filter(({ id }) => !told.has(id)).reverse();
      for (const { id } of fresh) told.add(id);
      for (const id of told) if (id < firstIdAt(from)) told.delete(id);
      for (const row of fresh) yield JSON.stringify(showEntry(row));
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
    }
  }

  #take(customerId: string): void {
    const open = this.#open.get(customerId) ?? 0;
    if (this.#count >= this.#limits.tailsMax || open >= this.#limits.customerTailsMax) {
      throw new ApiError(
        429,
        'TOO_MANY_TAILS',
        'as many as may follow the log already do: close another page that shows it live',
        { retryAfter: 10 },
      );
    }
    this.#count++;
    this.#open.set(customerId, open + 1);
  }

  #giveBack(customerId: string): void {
    this.#count--;
    const open = (this.#open.get(customerId) ?? 1) - 1;
    if (open === 0) this.#open.delete(customerId);
    else this.#open.set(customerId, open);
  }
}

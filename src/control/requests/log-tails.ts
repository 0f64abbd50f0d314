import { setTimeout as sleep } from 'node:timers/promises';
import { withDefaults } from '../../base/with-defaults.ts';
import { ApiError } from '../api/api-error.ts';
import type { Store } from '../database/store.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { firstIdAt } from './entry-ids.ts';
import type { ListedRow, LogFilter, LogStore } from './log-store.ts';
import { type Named, toLogEntryJson, withKeyNames } from './read-log.ts';

export const tailLimits = {
  tailsMax: 50,
  /** Per customer; tails opened by operators do not count. */
  customerTailsMax: 10,
  /** Per user or token. */
  followerTailsMax: 5,
  /** Tails reserved for operators; at most half of `tailsMax`. */
  operatorTailsReserved: 10,
  pollIntervalMs: 500,
  /** Maximum rows per poll; if there are more, the newest are read. */
  rowsMax: 500,
  /** Each poll reads this far back, because other gateways may write entries late. */
  lookbackMs: 5_000,
};

type TailLimits = Readonly<typeof tailLimits>;

type Follower = Readonly<{ id: string; isOperator: boolean }>;

type Tail = Readonly<{
  store: Store;
  log: LogStore;
  customerId: string;
  filter: Omit<LogFilter, 'from' | 'to'>;
  now: () => number;
  signal: AbortSignal;
  follower: Follower;
}>;

/** Live tails of the request log across all gateways. Polls the log for new rows. */
export class LogTails {
  readonly #limits: TailLimits;
  readonly #state: FailureState;
  /** Number of open tails for each limit: overall, per customer and per follower. */
  readonly #open = new Map<string, number>();

  constructor(limits: Partial<TailLimits> = {}, onState?: OnState) {
    this.#limits = withDefaults(tailLimits, limits);
    this.#state = new FailureState(onState);
  }

  /**
   * Streams new entries as JSON until the signal aborts.
   * @throws ApiError 429 when too many tails are open.
   */
  follow(tail: Tail): AsyncIterable<string> {
    const { signal } = tail;
    signal.throwIfAborted();
    const limits = this.#limitsFor(tail);
    this.#acquire(limits);
    // Registered here, because the generator never runs if the client disconnects before the first read.
    signal.addEventListener('abort', () => this.#release(limits), { once: true });
    return this.#entries(tail);
  }

  async *#entries({ store, log, customerId, filter, now, signal, follower }: Tail): AsyncGenerator<string> {
    const { pollIntervalMs, rowsMax, lookbackMs } = this.#limits;
    const startedAt = now();
    /** Ids of sent entries that the next poll may find again. */
    const sentIds = new Set<string>();
    while (!signal.aborted) {
      const from = Math.max(startedAt, now() - lookbackMs);
      const range = { ...filter, from, to: Number.MAX_SAFE_INTEGER };
      let rows: Named<ListedRow>[] = [];
      await this.#state.guard(async () => {
        const page = await log.list(customerId, range, rowsMax, null);
        rows = await withKeyNames(store, page.rows);
      });
      const fresh = rows.filter(({ id }) => !sentIds.has(id)).reverse();
      for (const { id } of fresh) sentIds.add(id);
      for (const id of sentIds) if (id < firstIdAt(from)) sentIds.delete(id);
      for (const row of fresh) yield JSON.stringify(toLogEntryJson(row, follower.isOperator));
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
    }
  }

  #limitsFor({ customerId, follower }: Tail): ReadonlyMap<string, number> {
    const { tailsMax, customerTailsMax, followerTailsMax, operatorTailsReserved } = this.#limits;
    const limits = new Map([
      ['all', tailsMax],
      [`follower ${follower.id}`, followerTailsMax],
    ]);
    if (!follower.isOperator) {
      const reserved = Math.min(operatorTailsReserved, Math.floor(tailsMax / 2));
      limits.set('customers', tailsMax - reserved);
      limits.set(`customer ${customerId}`, customerTailsMax);
    }
    return limits;
  }

  #acquire(limits: ReadonlyMap<string, number>): void {
    if ([...limits].some(([name, most]) => (this.#open.get(name) ?? 0) >= most)) {
      const message = 'Too many live views of the log are open. Close one of them.';
      throw new ApiError(429, 'TOO_MANY_TAILS', message, { retryAfter: 10 });
    }
    for (const name of limits.keys()) this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
  }

  #release(limits: ReadonlyMap<string, number>): void {
    for (const name of limits.keys()) {
      const open = (this.#open.get(name) ?? 1) - 1;
      if (open === 0) this.#open.delete(name);
      else this.#open.set(name, open);
    }
  }
}

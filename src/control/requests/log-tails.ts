import { setTimeout as sleep } from 'node:timers/promises';
import { withDefaults } from '../../base/with-defaults.ts';
import { ApiError } from '../api/api-error.ts';
import type { Store } from '../database/open.ts';
import { FailureState, type OnState } from '../failure-state.ts';
import { firstIdAt, type LogFilter, type LogRow, readLog, toLogEntryJson } from './read-log.ts';

/** How requests are followed as they come. */
export type TailLimits = Readonly<{
  /** Followers in one process. */
  tailsMax: number;
  /** Those of one customer, without the operator. */
  customerTailsMax: number;
  /** Those of one user or token, whatever customers they follow. */
  followerTailsMax: number;
  /** Of `tailsMax`, the places that only the operator takes; half of them at most. */
  operatorTailsKept: number;
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
  followerTailsMax: 5,
  operatorTailsKept: 10,
  pollIntervalMs: 500,
  rowsMax: 500,
  reachMs: 5_000,
};

/** Who follows: a user or a token. */
export type Follower = Readonly<{ id: string; isOperator: boolean }>;

/** Who follows the log as it grows, over all gateways: by looking for newer rows. */
export class LogTails {
  readonly #limits: TailLimits;
  readonly #state: FailureState;
  readonly #open = new Map<string, number>();
  #count = 0;
  /** Of them, those who are not the operator. */
  #others = 0;

  /** @param onState - hears of looks that fail. Followers then wait for the next one. */
  constructor(limits: Partial<TailLimits> = {}, onState?: OnState) {
    this.#limits = withDefaults(tailLimits, limits);
    this.#state = new FailureState(onState);
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
    follower: Follower | null = null,
  ): AsyncIterable<string> {
    signal.throwIfAborted();
    const limits = this.#limitsFor(customerId, follower);
    const isOperator = follower?.isOperator === true;
    this.#acquire(limits, isOperator);
    // Not by the end of the events: whoever has left may never have begun to read them.
    signal.addEventListener('abort', () => this.#release(limits, isOperator), { once: true });
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
    const startedAt = now();
    /** Ids that were told and would be found again. */
    const sentIds = new Set<string>();
    while (!signal.aborted) {
      const from = Math.max(startedAt, now() - reachMs);
      const range = { ...filter, from, to: Number.MAX_SAFE_INTEGER };
      const rows = await this.#poll(() => readLog(store, customerId, range, rowsMax, null));
      const fresh = rows.filter(({ id }) => !sentIds.has(id)).reverse();
      for (const { id } of fresh) sentIds.add(id);
      for (const id of sentIds) if (id < firstIdAt(from)) sentIds.delete(id);
      for (const row of fresh) yield JSON.stringify(toLogEntryJson(row));
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {});
    }
  }

  async #poll(read: () => Promise<LogRow[]>): Promise<LogRow[]> {
    try {
      const rows = await read();
      this.#state.report(null);
      return rows;
    } catch (error) {
      this.#state.report(error);
      return [];
    }
  }

  /** What a follower has a part of, and how many may have one of each. */
  #limitsFor(customerId: string, follower: Follower | null): ReadonlyMap<string, number> {
    const { customerTailsMax, followerTailsMax } = this.#limits;
    const limits = new Map<string, number>();
    if (follower?.isOperator !== true) limits.set(`customer ${customerId}`, customerTailsMax);
    if (follower !== null) limits.set(`follower ${follower.id}`, followerTailsMax);
    return limits;
  }

  #acquire(limits: ReadonlyMap<string, number>, isOperator: boolean): void {
    const { tailsMax, operatorTailsKept } = this.#limits;
    const reserved = Math.min(operatorTailsKept, Math.floor(tailsMax / 2));
    const isFull = [...limits].some(([name, most]) => (this.#open.get(name) ?? 0) >= most);
    const isReserved = !isOperator && this.#others >= tailsMax - reserved;
    if (isFull || isReserved || this.#count >= tailsMax) {
      throw new ApiError(
        429,
        'TOO_MANY_TAILS',
        'as many as may follow the log already do: close another page that shows it live',
        { retryAfter: 10 },
      );
    }
    this.#count++;
    if (!isOperator) this.#others++;
    for (const name of limits.keys()) this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
  }

  #release(limits: ReadonlyMap<string, number>, isOperator: boolean): void {
    this.#count--;
    if (!isOperator) this.#others--;
    for (const name of limits.keys()) {
      const open = (this.#open.get(name) ?? 1) - 1;
      if (open === 0) this.#open.delete(name);
      else this.#open.set(name, open);
    }
  }
}

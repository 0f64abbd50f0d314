import { monthOf, type QuotaLedger, type RemoteUsage } from '../../gateway/limits/quota.ts';
import type { Store } from '../database/open.ts';
import { FailureState } from '../failure-state.ts';
import { creditsOfMonth, creditsOfOthers } from './credits-of-month.ts';

/** How a ledger learns what was used elsewhere. Times in milliseconds. */
export type QuotaReaderLimits = Readonly<{
  /** How often what other gateways wrote is read. */
  readIntervalMs: number;
  /** Minutes for which they may write late, when the database was away for them. */
  lateMinutes: number;
  /** How often the whole month is counted anew, for what came later still. */
  recountIntervalMs: number;
  /** When it is first counted anew: what an earlier run could not write any more is taken over after the start. */
  firstRecountMs: number;
}>;

/** What holds when nothing else is said. */
export const quotaReaderLimits: QuotaReaderLimits = {
  readIntervalMs: 5_000,
  lateMinutes: 5,
  recountIntervalMs: 600_000,
  firstRecountMs: 10_000,
};

export type QuotaReaderOptions = QuotaReaderLimits &
  Readonly<{
    store: Store;
    ledger: QuotaLedger;
    /** How this run is named in usage. */
    epoch: string;
    /** Unix milliseconds. */
    now?: () => number;
    /** Hears when reading begins to fail, and with null when it works again. */
    onState?: (error: unknown | null) => void;
  }>;

const MINUTE_MS = 60_000;

/**
 * Tells a ledger what was used of the month before this run began, and then what other gateways write; of an embedded
 * store there are no others.
 */
export class QuotaReader {
  readonly #options: QuotaReaderOptions;
  readonly #now: () => number;
  /** Credits of minutes that are not read again. */
  #settled = new Map<string, RemoteUsage>();
  readonly #state: FailureState;
  #month = Number.NaN;
  #fromMinute = 0;
  #reading: Promise<void> | null = null;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(options: QuotaReaderOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#state = new FailureState(options.onState);
  }

  /** Learns what was used before this run. @throws the driver's error: without it nobody knows what is left. */
  async start(): Promise<void> {
    await this.#startMonth();
    const { store, readIntervalMs, firstRecountMs, recountIntervalMs } = this.#options;
    this.#timers.push(setTimeout(() => void this.recount(), firstRecountMs));
    this.#timers.push(setInterval(() => void this.recount(), recountIntervalMs));
    if (store.dialect === 'sqlite') return;
    this.#timers.push(setInterval(() => void this.read(), readIntervalMs));
  }

  /** Reads what others wrote. Never rejects. */
  read(): Promise<void> {
    return this.#runExclusive(() => this.#read());
  }

  /** Counts the whole month anew, less what was spent here. Never rejects. */
  recount(): Promise<void> {
    return this.#runExclusive(() => this.#recount());
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    await this.#reading;
  }

  #runExclusive(work: () => Promise<void>): Promise<void> {
    this.#reading ??= this.#state.guard(work).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #startMonth(): Promise<void> {
    const { store, epoch, lateMinutes } = this.#options;
    const nowMs = this.#now();
    const month = monthOf(nowMs).start;
    const minute = Math.floor(nowMs / MINUTE_MS) - lateMinutes;
    this.#fromMinute = Math.max(month / MINUTE_MS, minute);
    // In this order: what is written between the two is then missing for a moment, and not counted twice.
    const used = await creditsOfMonth(store, month, nowMs);
    const recent = await creditsOfOthers(store, epoch, this.#fromMinute, this.#fromMinute);
    this.#applyUsage(month, used);
    // These minutes are read again and again, so they must not stand among what is settled.
    this.#settled = sumOf(used, recent.open, -1);
  }

  async #recount(): Promise<void> {
    const { store, ledger } = this.#options;
    const nowMs = this.#now();
    const month = monthOf(nowMs).start;
    const used = await creditsOfMonth(store, month, nowMs);
    const own = ledger.accounts().map((account) => ({ ...account, credits: account.local }));
    this.#options.ledger.applyStored([...sumOf(used, own, -1).values()], month, this.#now());
  }

  async #read(): Promise<void> {
    const { store, epoch, lateMinutes } = this.#options;
    const nowMs = this.#now();
    const month = monthOf(nowMs).start;
    if (month !== this.#month) {
      this.#settled = new Map();
      this.#fromMinute = month / MINUTE_MS;
    }
    const settledBefore = Math.max(this.#fromMinute, Math.floor(nowMs / MINUTE_MS) - lateMinutes);
    const recent = await creditsOfOthers(store, epoch, this.#fromMinute, settledBefore);
    this.#settled = sumOf([...this.#settled.values()], recent.settled);
    this.#fromMinute = settledBefore;
    this.#applyUsage(month, [...sumOf([...this.#settled.values()], recent.open).values()]);
  }

  #applyUsage(month: number, used: readonly RemoteUsage[]): void {
    this.#month = month;
    this.#options.ledger.applyStored(used, month, this.#now());
  }
}

/** Credits by customer and plan, the second list with its sign. */
function sumOf(
  first: readonly RemoteUsage[],
  second: readonly RemoteUsage[],
  sign: 1 | -1 = 1,
): Map<string, RemoteUsage> {
  const sums = new Map<string, RemoteUsage>();
  const add = (one: RemoteUsage, by: number): void => {
    const name = `${one.customerId} ${one.planId}`;
    const credits = (sums.get(name)?.credits ?? 0) + by * one.credits;
    sums.set(name, { ...one, credits: Math.max(0, credits) });
  };
  for (const one of first) add(one, 1);
  for (const one of second) add(one, sign);
  return sums;
}

import { sql } from 'kysely';
import { monthOf, type QuotaLedger, type RemoteUsage } from '../../gateway/limits/quota.ts';
import type { Store } from '../database/store.ts';
import { FailureState, type OnState } from '../failure-state.ts';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_HOURS = 24;

type Row = Readonly<{ customer_id: string; plan_id: string; credits: number | string }>;

const toRemoteUsage = ({ customer_id, plan_id, credits }: Row): RemoteUsage => ({
  customerId: customer_id,
  planId: plan_id,
  credits: Number(credits),
});

const plansWithQuota = sql`(select id from plan where monthly_credits > 0)`;

/** The first hour without final totals: the previous hour, or an earlier hour whose roll-up is pending. */
async function firstOpenHour({ db }: Store, nowMs: number): Promise<number> {
  const hour = Math.floor(nowMs / MINUTE_MS / HOUR_MINUTES);
  const today = Math.floor(hour / DAY_HOURS);
  const { rows } = await sql<{ hour: number | null }>`
    select min(case kind when 'minute' then bucket / ${sql.lit(HOUR_MINUTES)}
        when 'total_day' then bucket * ${sql.lit(DAY_HOURS)} else bucket end) as hour
      from usage_mark
      where kind in ('minute', 'total_hour') or (kind = 'total_day' and bucket < ${today})`.execute(db);
  const marked = rows[0]?.hour ?? null;
  return Math.min(hour - 1, marked === null ? hour : Number(marked));
}

/**
 * Credits used since the start of the month per customer and plan, for plans with a quota. Sums the totals of days and
 * hours that are final, and the minutes of the remaining time.
 */
export async function creditsOfMonth(
  store: Store,
  monthStart: number,
  nowMs: number,
): Promise<RemoteUsage[]> {
  const firstHour = Math.floor(monthStart / MINUTE_MS / HOUR_MINUTES);
  const openHour = Math.max(firstHour, await firstOpenHour(store, nowMs));
  const openDay = Math.floor(openHour / DAY_HOURS);
  const { rows } = await sql<Row>`
    select customer_id, plan_id, sum(credits) as credits from (
      select customer_id, plan_id, credits from usage_total
        where step = 'day' and bucket >= ${firstHour / DAY_HOURS} and bucket < ${openDay}
          and plan_id in ${plansWithQuota}
      union all
      select customer_id, plan_id, credits from usage_total
        where step = 'hour' and bucket >= ${openDay * DAY_HOURS} and bucket < ${openHour}
          and plan_id in ${plansWithQuota}
      union all
      select customer_id, plan_id, credits from usage_minute
        where minute >= ${openHour * HOUR_MINUTES} and plan_id in ${plansWithQuota}
    ) as used group by customer_id, plan_id`.execute(store.db);
  return rows.map(toRemoteUsage);
}

/** Credits used from `fromMinute` on by all runs except `runId`. Minutes before `settledBefore` are final. */
async function creditsOfOtherRuns(
  { db }: Store,
  runId: string,
  fromMinute: number,
  settledBefore: number,
): Promise<Readonly<{ settled: RemoteUsage[]; open: RemoteUsage[] }>> {
  const { rows } = await sql<Row & { settled: number }>`
    select customer_id, plan_id, settled, sum(credits) as credits from (
      select customer_id, plan_id, credits, case when minute < ${settledBefore} then 1 else 0 end as settled
        from usage_minute
        where minute >= ${fromMinute} and epoch <> ${runId} and plan_id in ${plansWithQuota}
    ) as used group by customer_id, plan_id, settled`.execute(db);
  const usageWhereSettled = (settled: number): RemoteUsage[] =>
    rows.filter((row) => Number(row.settled) === settled).map(toRemoteUsage);
  return { settled: usageWhereSettled(1), open: usageWhereSettled(0) };
}

export const quotaReaderTimings = {
  readIntervalMs: 5_000,
  /** How late, in minutes, other gateways may write usage after a database outage. */
  lateMinutes: 5,
  /** Interval between full recounts, which include usage written later than `lateMinutes` allows. */
  recountIntervalMs: 600_000,
  /** Delay before the first recount: rows from an earlier run are recovered after startup and must be included. */
  firstRecountMs: 10_000,
};

type QuotaReaderOptions = Readonly<typeof quotaReaderTimings> &
  Readonly<{
    store: Store;
    ledger: QuotaLedger;
    /** Identifies this run in the usage tables. */
    runId: string;
    now?: () => number;
    onState?: OnState;
  }>;

/** Feeds the quota ledger with credits used before this run and by other gateways. */
export class QuotaReader {
  readonly #options: QuotaReaderOptions;
  readonly #now: () => number;
  /** Credits used in minutes that are final, per customer and plan. */
  #settled = new Map<string, RemoteUsage>();
  readonly #state: FailureState;
  #month = Number.NaN;
  #fromMinute = 0;
  #reading: Promise<void> | null = null;
  #recounting: Promise<void> | null = null;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(options: QuotaReaderOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#state = new FailureState(options.onState);
  }

  /** Loads the usage of the month so far. Rejects on failure, because the remaining quota would be unknown. */
  async start(): Promise<void> {
    await this.#loadMonth();
    const { store, readIntervalMs, firstRecountMs, recountIntervalMs } = this.#options;
    this.#timers.push(setTimeout(() => void this.recount(), firstRecountMs));
    this.#timers.push(setInterval(() => void this.recount(), recountIntervalMs));
    if (store.dialect === 'sqlite') return;
    this.#timers.push(setInterval(() => void this.read(), readIntervalMs));
  }

  /** Reads recent usage, unless a read is in flight. Never rejects. */
  read(): Promise<void> {
    this.#reading ??= this.#state
      .guard(() => this.#read())
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  /** Recounts this month's usage, excluding that of this run, unless a recount is in flight. Never rejects. */
  recount(): Promise<void> {
    this.#recounting ??= this.#state
      .guard(() => this.#recount())
      .finally(() => {
        this.#recounting = null;
      });
    return this.#recounting;
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    await Promise.all([this.#reading, this.#recounting]);
  }

  async #loadMonth(): Promise<void> {
    const { store, runId, lateMinutes } = this.#options;
    const nowMs = this.#now();
    const month = monthOf(nowMs).start;
    const minute = Math.floor(nowMs / MINUTE_MS) - lateMinutes;
    this.#fromMinute = Math.max(month / MINUTE_MS, minute);
    // Reading in this order may miss a concurrent write for a moment, but never counts a write twice.
    const used = await creditsOfMonth(store, month, nowMs);
    const recent = await creditsOfOtherRuns(store, runId, this.#fromMinute, this.#fromMinute);
    this.#applyUsage(month, used);
    // Open minutes are read again, so the settled sum excludes them.
    this.#settled = combine(used, recent.open, -1);
  }

  async #recount(): Promise<void> {
    const { store, ledger } = this.#options;
    const nowMs = this.#now();
    const month = monthOf(nowMs).start;
    const used = await creditsOfMonth(store, month, nowMs);
    const own = ledger.accounts().map((account) => ({ ...account, credits: account.local }));
    ledger.applyStored([...combine(used, own, -1).values()], month, this.#now());
  }

  async #read(): Promise<void> {
    const { store, runId, lateMinutes } = this.#options;
    const nowMs = this.#now();
    const month = monthOf(nowMs).start;
    if (month !== this.#month) {
      this.#settled = new Map();
      this.#fromMinute = month / MINUTE_MS;
    }
    const settledBefore = Math.max(this.#fromMinute, Math.floor(nowMs / MINUTE_MS) - lateMinutes);
    const recent = await creditsOfOtherRuns(store, runId, this.#fromMinute, settledBefore);
    this.#settled = combine([...this.#settled.values()], recent.settled);
    this.#fromMinute = settledBefore;
    this.#applyUsage(month, [...combine([...this.#settled.values()], recent.open).values()]);
  }

  #applyUsage(month: number, used: readonly RemoteUsage[]): void {
    this.#month = month;
    this.#options.ledger.applyStored(used, month, this.#now());
  }
}

function combine(
  first: readonly RemoteUsage[],
  second: readonly RemoteUsage[],
  sign: 1 | -1 = 1,
): Map<string, RemoteUsage> {
  const sums = new Map<string, RemoteUsage>();
  const add = (one: RemoteUsage, by: number): void => {
    const key = `${one.customerId} ${one.planId}`;
    const credits = (sums.get(key)?.credits ?? 0) + by * one.credits;
    sums.set(key, { ...one, credits: Math.max(0, credits) });
  };
  for (const one of first) add(one, 1);
  for (const one of second) add(one, sign);
  return sums;
}

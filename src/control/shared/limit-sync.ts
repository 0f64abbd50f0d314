import type { ConnectionLimit } from '../../gateway/limits/connection-limit.ts';
import type { QuotaAccount, QuotaLedger } from '../../gateway/limits/quota.ts';
import type { RateLimiter } from '../../gateway/limits/rate-limiter.ts';
import type { SlidingWindowLimiter, WindowReport } from '../../gateway/limits/sliding-window-limiter.ts';
import type { LimitCommand } from './limit-store.ts';

/** When something is said. */
export type SyncTime = Readonly<{
  /** Of `performance.now()`. */
  nowMs: number;
  /** Whether it is time to say again what would be forgotten otherwise. */
  isRefresh: boolean;
  /** Whether the server may not know what was said to it before. */
  isReset: boolean;
}>;

/** When an answer came, by this clock, and when it was given, by the server's (Unix milliseconds). */
export type ReplyTime = Readonly<{ nowMs: number; serverMs: number }>;

/** One step, and what to do with its answer. */
export type SyncCommand = LimitCommand &
  Readonly<{ onReply(answer: readonly unknown[], time: ReplyTime): void }>;

/** One kind of limit that is shared. */
export interface LimitSync {
  /** What there is to say; null: nothing. */
  nextCommand(time: SyncTime): SyncCommand | null;
}

/** What all kinds have in common. */
type SyncOptions = Readonly<{ gateway: string; namesMax: number }>;

/** So many intervals may lie between two tellings of a name, where there are many. */
const REPORT_INTERVALS_MAX = 5;

/** Tokens taken, there; tokens missing, back. */
export function rateSync(
  rates: RateLimiter,
  prefix: string,
  {
    gateway,
    namesMax,
    gateways,
    intervalMs,
  }: SyncOptions & Readonly<{ gateways: () => number; intervalMs: number }>,
): LimitSync {
  return {
    nextCommand({ nowMs }) {
      const taken = rates.takeReports(namesMax, nowMs);
      if (taken.length === 0) return null;
      const values = taken.flatMap((one) => [
        ...[one.reportId, one.taken, one.missing.toFixed(3), one.perSecond, one.capacity],
      ]);
      return {
        name: 'rates',
        keys: taken.map(({ familyId }) => prefix + familyId),
        // More cannot be missing than each gateway has taken of a full bucket, and of what came in meanwhile.
        values: [gateway, gateways() + 1, (REPORT_INTERVALS_MAX * intervalMs) / 1_000, ...values],
        onReply(answer, { nowMs: repliedMs }) {
          taken.forEach(({ familyId }, index) => {
            rates.applyRemote(familyId, Number(answer[index]), repliedMs);
          });
        },
      };
    },
  };
}

/** Parts of windows by the server's clock: this one's are moved by a whole number of them. */
export function windowSync(
  window: SlidingWindowLimiter,
  prefix: string,
  { gateway, namesMax }: SyncOptions,
): LimitSync {
  let shift: number | null = null;
  const follow = ({ nowMs, serverMs }: ReplyTime): void => {
    const targetShift = (serverMs - nowMs) / window.bucketMs;
    // Not moved for less than a part: what was said before stands under its old number.
    if (shift === null || Math.abs(targetShift - shift) > 1) shift = Math.round(targetShift);
  };
  const toCommand = (counted: readonly WindowReport[], nowMs: number, by: number): SyncCommand => ({
    name: 'windows',
    keys: counted.map(({ name }) => prefix + name),
    values: [
      gateway,
      Math.floor(nowMs / window.bucketMs) + by - window.bucketCount + 1,
      Math.ceil(window.bucketMs * window.bucketCount * 2),
      ...counted.flatMap(({ buckets }) => [
        buckets.length,
        ...buckets.flatMap(([part, requests]) => [part + by, requests]),
      ]),
    ],
    onReply(answer, time) {
      counted.forEach(({ name }, index) => {
        window.applyRemote(name, pairsOf(answer[index] as number[], by), time.nowMs);
      });
      follow(time);
    },
  });
  return {
    nextCommand({ nowMs, isReset }) {
      if (isReset) {
        window.resetReports();
        shift = null;
      }
      // The server's time is known after a first exchange, of nothing.
      if (shift === null) return { name: 'clock', keys: [], values: [], onReply: (_, time) => follow(time) };
      const counted = window.takeReports(namesMax);
      return counted.length === 0 ? null : toCommand(counted, nowMs, shift);
    },
  };
}

const pairsOf = (flat: readonly number[], by: number): [number, number][] =>
  Array.from({ length: flat.length / 2 }, (_, pair) => [
    (flat[pair * 2] as number) - by,
    flat[pair * 2 + 1] as number,
  ]);

/** Places held, there; places that others hold, back. */
export function connectionSync(
  connections: ConnectionLimit,
  prefix: string,
  { gateway, namesMax, presenceMs }: SyncOptions & Readonly<{ presenceMs: number }>,
): LimitSync {
  return {
    nextCommand({ isRefresh, isReset }) {
      const held = connections.report(namesMax, isReset ? 'restart' : isRefresh ? 'next' : null);
      if (held.length === 0) return null;
      return {
        name: 'places',
        keys: held.map(({ name }) => prefix + name),
        values: [gateway, presenceMs, ...held.map(({ open }) => open)],
        onReply(answer) {
          held.forEach(({ name }, index) => {
            connections.applyRemote(name, Number(answer[index]));
          });
        },
      };
    },
  };
}

/** How long after the month its credits are kept. */
const RETENTION_AFTER_MS = 40 * 86_400_000;

/** The part of an exchange that accounts may have which did not change. */
const REST_SHARE = 0.1;
/** So often an account is told of again after it changed: what others spend of it is heard of with it. */
const REPORT_COUNT = 10;

/**
 * Accounts in the order in which they are told of: first those that changed, the longest waiting ahead; then, a few at a
 * time, those that changed lately, and all the others, each once in a round. A round begins when the one before is over,
 * however many there are, so that nothing is asked in a hurry while nothing happens.
 */
class AccountReportQueue {
  readonly #ledger: QuotaLedger;
  readonly #changes: () => QuotaAccount[];
  /** As they are now. */
  readonly #changed = new Map<string, QuotaAccount>();
  /** None of them is among `#changed`. */
  readonly #recent = new Map<string, Readonly<{ account: QuotaAccount; remaining: number }>>();
  #rest: Iterator<QuotaAccount> | null = null;
  /** Whether the server is to know of all soon. */
  #isUrgent = false;
  #month = 0;

  constructor(ledger: QuotaLedger) {
    this.#ledger = ledger;
    this.#changes = ledger.trackChanges();
  }

  /** Those whose turn it is. */
  next({ isRefresh, isReset }: SyncTime, most: number): QuotaAccount[] {
    const { monthStart } = this.#ledger;
    if (monthStart !== this.#month) {
      this.#changed.clear();
      this.#recent.clear();
      this.#rest = null;
    }
    this.#month = monthStart;
    for (const account of this.#changes()) {
      this.#changed.set(accountKey(account), account);
      this.#recent.delete(accountKey(account));
    }
    if (isReset || (isRefresh && this.#rest === null)) this.#rest = this.#ledger.each();
    if (isReset) this.#isUrgent = true;
    const share = Math.ceil(most * REST_SHARE);
    const recent = this.#takeRecent(Math.min(share, most - Math.min(this.#changed.size, most)));
    const accounts = [...this.#takeChanged(most), ...recent];
    const capacity = most - accounts.length;
    this.#takeRest(accounts, this.#isUrgent ? capacity : Math.min(capacity, share - recent.length));
    return accounts;
  }

  #takeChanged(most: number): QuotaAccount[] {
    const taken = firstOf(this.#changed, most);
    for (const [name, account] of taken) {
      if (this.#recent.size < most) this.#recent.set(name, { account, remaining: REPORT_COUNT });
    }
    return taken.map(([, account]) => account);
  }

  #takeRecent(most: number): QuotaAccount[] {
    const taken = firstOf(this.#recent, most);
    for (const [name, { account, remaining }] of taken) {
      if (remaining > 1) this.#recent.set(name, { account, remaining: remaining - 1 });
    }
    return taken.map(([, { account }]) => account);
  }

  #takeRest(accounts: QuotaAccount[], most: number): void {
    const end = accounts.length + most;
    while (accounts.length < end && this.#rest !== null) {
      const { value, done } = this.#rest.next();
      if (done === true) {
        this.#rest = null;
        this.#isUrgent = false;
      } else accounts.push(value);
    }
  }
}

/** Takes the first entries out. */
function firstOf<Value>(map: Map<string, Value>, most: number): [string, Value][] {
  const taken: [string, Value][] = [];
  for (const entry of map) {
    if (taken.length >= most) break;
    taken.push(entry);
    map.delete(entry[0]);
  }
  return taken;
}

const accountKey = ({ customerId, planId }: QuotaAccount): string => `${customerId} ${planId}`;

/** Credits that were spent here in all, there; what other runs spent, back. */
export function quotaSync(
  ledger: QuotaLedger,
  prefix: string,
  { gateway, namesMax }: SyncOptions,
): LimitSync {
  const reportQueue = new AccountReportQueue(ledger);
  return {
    nextCommand(time) {
      const { monthStart } = ledger;
      const accounts = reportQueue.next(time, namesMax);
      if (accounts.length === 0) return null;
      const name = new Date(monthStart).toISOString().slice(0, 7);
      return {
        name: 'quotas',
        keys: accounts.map(({ customerId, planId }) => `${prefix}${name}:${customerId}:${planId}`),
        values: [gateway, monthStart + RETENTION_AFTER_MS, ...accounts.map(({ local }) => local)],
        onReply(answer) {
          accounts.forEach(({ customerId, planId }, index) => {
            ledger.applyReported({ customerId, planId, credits: Number(answer[index]) }, monthStart);
          });
        },
      };
    },
  };
}

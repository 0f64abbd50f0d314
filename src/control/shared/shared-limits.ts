import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionLimit } from '../../gateway/limits/connection-limit.ts';
import type { QuotaAccount, QuotaLedger } from '../../gateway/limits/quota.ts';
import type { RateLimiter } from '../../gateway/limits/rate-limiter.ts';
import type { SlidingWindowLimiter, WindowReport } from '../../gateway/limits/sliding-window-limiter.ts';
import type { OnState } from '../failure-state.ts';
import type { LimitCommand, LimitCommandName, LimitStore } from './limit-store.ts';

type SyncTime = Readonly<{
  /** On the performance.now() clock. */
  nowMs: number;
  /** Whether to report unchanged counts again, before they expire. */
  isRefresh: boolean;
  /** Whether the server may have lost earlier reports. */
  isReset: boolean;
}>;

/** Time of the reply on the performance.now() clock, and the server's time in Unix milliseconds. */
type ReplyTime = Readonly<{ nowMs: number; serverMs: number }>;

type SyncCommand = LimitCommand & Readonly<{ onReply(reply: readonly unknown[], time: ReplyTime): void }>;

/** Synchronizes one kind of limit: returns the next command, or null if there is nothing to report. */
type LimitSync = (time: SyncTime) => SyncCommand | null;

type SyncOptions = Readonly<{ gateway: string; namesMax: number }>;

/** Maximum number of sync intervals between two reports of one name. */
const REPORT_INTERVALS_MAX = 5;

type RateSyncOptions = SyncOptions & Readonly<{ gateways: () => number; intervalMs: number }>;

/** Reports how many tokens were taken here and receives how many are missing across all gateways. */
export function rateSync(
  rates: RateLimiter,
  prefix: string,
  { gateway, namesMax, gateways, intervalMs }: RateSyncOptions,
): LimitSync {
  return ({ nowMs }) => {
    const taken = rates.takeReports(namesMax, nowMs);
    if (taken.length === 0) return null;
    const values = taken.flatMap((one) => [
      ...[one.reportId, one.taken, one.missing.toFixed(3), one.perSecond, one.capacity],
    ]);
    return {
      name: 'rates',
      keys: taken.map(({ familyId }) => prefix + familyId),
      // Maximum missing tokens (one full bucket per gateway, plus one) and maximum refill between two reports.
      values: [gateway, gateways() + 1, (REPORT_INTERVALS_MAX * intervalMs) / 1_000, ...values],
      onReply(reply, { nowMs: repliedMs }) {
        for (const [index, { familyId }] of taken.entries())
          rates.applyRemote(familyId, Number(reply[index]), repliedMs);
      },
    };
  };
}

/** Exchanges counts of window parts. Shifts local part numbers by a whole number to match the server's clock. */
function windowSync(
  window: SlidingWindowLimiter,
  prefix: string,
  { gateway, namesMax }: SyncOptions,
): LimitSync {
  let shift: number | null = null;
  const follow = ({ nowMs, serverMs }: ReplyTime): void => {
    const targetShift = (serverMs - nowMs) / window.bucketMs;
    // Ignores small clock differences, so that reported parts keep their numbers.
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
    onReply(reply, time) {
      for (const [index, { name }] of counted.entries())
        window.applyRemote(name, pairsOf(reply[index] as number[], by), time.nowMs);
      follow(time);
    },
  });
  return ({ nowMs, isReset }) => {
    if (isReset) {
      window.resetReports();
      shift = null;
    }
    // Sends an empty command to learn the server's time.
    if (shift === null) return toCommand([], nowMs, 0);
    const counted = window.takeReports(namesMax);
    return counted.length === 0 ? null : toCommand(counted, nowMs, shift);
  };
}

const pairsOf = (flat: readonly number[], by: number): [number, number][] =>
  Array.from({ length: flat.length / 2 }, (_, pair) => [
    (flat[pair * 2] as number) - by,
    flat[pair * 2 + 1] as number,
  ]);

/** Reports how many connections are open here and receives the counts of other gateways. */
function connectionSync(
  connections: ConnectionLimit,
  prefix: string,
  { gateway, namesMax, presenceMs }: SyncOptions & Readonly<{ presenceMs: number }>,
): LimitSync {
  return ({ isRefresh, isReset }) => {
    const held = connections.report(namesMax, isReset ? 'restart' : isRefresh ? 'next' : null);
    if (held.length === 0) return null;
    return {
      name: 'connections',
      keys: held.map(({ name }) => prefix + name),
      values: [gateway, presenceMs, ...held.map(({ open }) => open)],
      onReply(reply) {
        for (const [index, { name }] of held.entries()) connections.applyRemote(name, Number(reply[index]));
      },
    };
  };
}

/** How long credits are retained after the start of their month. */
const RETENTION_AFTER_MS = 40 * 86_400_000;

/** Maximum share of unchanged accounts in a sync. */
const UNCHANGED_SHARE = 0.1;
/** How many more times a changed account is reported, to learn how many credits other gateways charge to it. */
const REPEAT_REPORTS = 10;

/**
 * Selects accounts to report: changed accounts, longest waiting first; then a few recently changed accounts; then a
 * few of all accounts in turn. Reporting only a few unchanged accounts keeps idle traffic low.
 */
class AccountReportQueue {
  readonly #ledger: QuotaLedger;
  readonly #changes: () => QuotaAccount[];
  readonly #changed = new Map<string, QuotaAccount>();
  /** Recently changed accounts with the number of remaining reports; none of them is in `#changed`. */
  readonly #recent = new Map<string, Readonly<{ account: QuotaAccount; remaining: number }>>();
  #round: Iterator<QuotaAccount> | null = null;
  /** Whether all accounts must be reported as soon as possible. */
  #isUrgent = false;
  #month = 0;

  constructor(ledger: QuotaLedger) {
    this.#ledger = ledger;
    this.#changes = ledger.trackChanges();
  }

  next({ isRefresh, isReset }: SyncTime, most: number): QuotaAccount[] {
    const { monthStart } = this.#ledger;
    if (monthStart !== this.#month) {
      this.#changed.clear();
      this.#recent.clear();
      this.#round = null;
    }
    this.#month = monthStart;
    for (const account of this.#changes()) {
      this.#changed.set(accountKey(account), account);
      this.#recent.delete(accountKey(account));
    }
    if (isReset || (isRefresh && this.#round === null)) this.#round = this.#ledger.each();
    if (isReset) this.#isUrgent = true;
    const share = Math.ceil(most * UNCHANGED_SHARE);
    const recent = this.#takeRecent(Math.min(share, most - Math.min(this.#changed.size, most)));
    const accounts = [...this.#takeChanged(most), ...recent];
    const capacity = most - accounts.length;
    this.#takeRest(accounts, this.#isUrgent ? capacity : Math.min(capacity, share - recent.length));
    return accounts;
  }

  #takeChanged(most: number): QuotaAccount[] {
    const taken = takeFirst(this.#changed, most);
    for (const [name, account] of taken) {
      if (this.#recent.size < most) this.#recent.set(name, { account, remaining: REPEAT_REPORTS });
    }
    return taken.map(([, account]) => account);
  }

  #takeRecent(most: number): QuotaAccount[] {
    const taken = takeFirst(this.#recent, most);
    for (const [name, { account, remaining }] of taken) {
      if (remaining > 1) this.#recent.set(name, { account, remaining: remaining - 1 });
    }
    return taken.map(([, { account }]) => account);
  }

  #takeRest(accounts: QuotaAccount[], most: number): void {
    const end = accounts.length + most;
    while (accounts.length < end && this.#round !== null) {
      const { value, done } = this.#round.next();
      if (done === true) {
        this.#round = null;
        this.#isUrgent = false;
      } else accounts.push(value);
    }
  }
}

function takeFirst<Value>(map: Map<string, Value>, most: number): [string, Value][] {
  const taken: [string, Value][] = [];
  for (const entry of map) {
    if (taken.length >= most) break;
    taken.push(entry);
    map.delete(entry[0]);
  }
  return taken;
}

const accountKey = ({ customerId, planId }: QuotaAccount): string => `${customerId} ${planId}`;

/** Reports the total credits used in this run and receives the totals of other runs. */
function quotaSync(ledger: QuotaLedger, prefix: string, { gateway, namesMax }: SyncOptions): LimitSync {
  const reportQueue = new AccountReportQueue(ledger);
  return (time) => {
    const { monthStart } = ledger;
    const accounts = reportQueue.next(time, namesMax);
    if (accounts.length === 0) return null;
    const name = new Date(monthStart).toISOString().slice(0, 7);
    return {
      name: 'quotas',
      keys: accounts.map(({ customerId, planId }) => `${prefix}${name}:${customerId}:${planId}`),
      values: [gateway, monthStart + RETENTION_AFTER_MS, ...accounts.map(({ local }) => local)],
      onReply(reply) {
        for (const [index, { customerId, planId }] of accounts.entries())
          ledger.applyReported({ customerId, planId, credits: Number(reply[index]) }, monthStart);
      },
    };
  };
}

export const sharingLimits = {
  /** Pause between syncs; usage on other gateways is seen with this delay. */
  syncIntervalMs: 100,
  connectTimeoutMs: 2_000,
  /** Timeout of one sync. */
  commandTimeoutMs: 1_000,
  reconnectMaxMs: 500,
  /** After this time without a report, a gateway is removed and its connection slots are freed. */
  presenceMs: 10_000,
  /** Minimum number of gateways to assume while the store is unreachable. */
  gatewaysMin: 1,
  /** Maximum names per kind and sync; the others wait for the next sync. */
  namesMax: 5_000,
};

export type SharingLimits = Readonly<typeof sharingLimits>;

/** Limiters of this process. They decide locally; syncs add the usage of other gateways. */
type LimitParts = Readonly<{
  rates: RateLimiter;
  windows: Readonly<Record<string, SlidingWindowLimiter>>;
  connections: Readonly<Record<string, ConnectionLimit>>;
  quota: QuotaLedger;
}>;

type SharedLimitsOptions = SharingLimits &
  Readonly<{
    store: LimitStore;
    prefix: string;
    parts: LimitParts;
    onState?: OnState;
  }>;

/** How many times unchanged counts are reported within `presenceMs`. */
const REFRESHES_PER_PRESENCE = 3;

/**
 * Exchanges the usage of limits with other gateways in the background. Decisions never wait for an exchange. While
 * the store is unreachable, each gateway applies its share of every limit.
 */
export class SharedLimits {
  /** Identifies this run of this gateway. */
  readonly gateway: string = randomUUID();
  readonly #options: SharedLimitsOptions;
  readonly #syncs: readonly LimitSync[];
  readonly #stopped = new AbortController();
  /** Number of gateways at the last sync, including this gateway. */
  #gateways: number;
  #isConnected: boolean | null = null;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
    this.#gateways = options.gatewaysMin;
    const { parts, prefix, namesMax, presenceMs, syncIntervalMs: intervalMs } = options;
    const common = { gateway: this.gateway, namesMax };
    this.#syncs = [
      rateSync(parts.rates, `${prefix}rate:`, { ...common, intervalMs, gateways: () => this.#gateways }),
      ...Object.entries(parts.windows).map(([name, window]) =>
        windowSync(window, `${prefix}window:${name}:`, common),
      ),
      ...Object.entries(parts.connections).map(([name, limit]) =>
        connectionSync(limit, `${prefix}places:${name}:`, { ...common, presenceMs }),
      ),
      quotaSync(parts.quota, `${prefix}quota:`, common),
    ];
  }

  get isConnected(): boolean {
    return this.#isConnected === true;
  }

  /** Waits for the first sync or the connect timeout, then syncs periodically. Never rejects. */
  async start(): Promise<void> {
    await this.#options.store.start();
    await this.sync();
    this.#running = this.#run();
  }

  async sync(): Promise<void> {
    try {
      await this.#syncOnce();
      this.#updateState(null);
    } catch (error) {
      this.#updateState(error);
    }
  }

  /** Syncs once more, then removes this gateway, so that its connection slots become free immediately. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    const { store } = this.#options;
    this.#refreshedAt = Number.NEGATIVE_INFINITY;
    await this.sync();
    if (this.isConnected) await store.execute([this.#gatewayCommand('remove-gateway')]).catch(() => {});
    await store.stop();
  }

  #gatewayCommand(name: LimitCommandName, ...values: readonly number[]): LimitCommand {
    return { name, keys: [`${this.#options.prefix}gateways`], values: [this.gateway, ...values] };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await delay(this.#options.syncIntervalMs, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await this.sync();
    }
  }

  async #syncOnce(): Promise<void> {
    const { presenceMs, store } = this.#options;
    if (store.problem !== null) throw store.problem;
    const nowMs = performance.now();
    const isRefresh = nowMs - this.#refreshedAt >= presenceMs / REFRESHES_PER_PRESENCE;
    if (isRefresh) this.#refreshedAt = nowMs;
    const time = { nowMs, isRefresh, isReset: this.#isConnected !== true };
    const commands = this.#syncs.map((sync) => sync(time)).filter((command) => command !== null);
    const presenceCommand = this.#gatewayCommand('presence', presenceMs);
    const [presence, ...replies] = await store.execute([presenceCommand, ...commands]);
    const [serverMs, gateways] = presence as [number, number];
    this.#gateways = Math.max(1, gateways);
    const repliedMs = performance.now();
    for (const [index, { onReply }] of commands.entries())
      onReply(replies[index] as unknown[], { nowMs: repliedMs, serverMs });
  }

  #updateState(error: unknown | null): void {
    const isConnected = error === null;
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    this.#setGateways(isConnected ? 1 : Math.max(this.#gateways, this.#options.gatewaysMin));
    this.#options.onState?.(error);
  }

  #setGateways(gateways: number): void {
    const { rates, windows, connections, quota } = this.#options.parts;
    for (const part of [rates, quota, ...Object.values(windows), ...Object.values(connections)]) {
      part.setGateways(gateways);
    }
  }
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionLimit } from '../../gateway/limits/connection-limit.ts';
import type { QuotaAccount, QuotaLedger } from '../../gateway/limits/quota.ts';
import type { RateLimiter } from '../../gateway/limits/rate-limiter.ts';
import type { SlidingWindowLimiter, WindowReport } from '../../gateway/limits/sliding-window-limiter.ts';
import type { LimitCommand, LimitStore } from './limit-store.ts';

/** When something is said. */
type SyncTime = Readonly<{
  /** Of `performance.now()`. */
  nowMs: number;
  /** Whether it is time to say again what would be forgotten otherwise. */
  isRefresh: boolean;
  /** Whether the server may not know what was said to it before. */
  isReset: boolean;
}>;

/** When an answer came, by this clock, and when it was given, by the server's (Unix milliseconds). */
type ReplyTime = Readonly<{ nowMs: number; serverMs: number }>;

/** One step, and what to do with its answer. */
type SyncCommand = LimitCommand & Readonly<{ onReply(answer: readonly unknown[], time: ReplyTime): void }>;

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
function windowSync(
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
function connectionSync(
  connections: ConnectionLimit,
  prefix: string,
  { gateway, namesMax, presenceMs }: SyncOptions & Readonly<{ presenceMs: number }>,
): LimitSync {
  return {
    nextCommand({ isRefresh, isReset }) {
      const held = connections.report(namesMax, isReset ? 'anew' : isRefresh ? 'next' : null);
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

/** How limits are shared. Times in milliseconds. */
export type SharingLimits = Readonly<{
  /** How long after an exchange the next one begins: what others let through is heard of so much later. */
  syncIntervalMs: number;
  /** To be connected. */
  connectTimeoutMs: number;
  /** One exchange; the server counts as away beyond it. */
  commandTimeoutMs: number;
  /** The longest pause between two tries to connect. */
  reconnectMaxMs: number;
  /** A gateway that is silent for so long is gone, and the places that it held are free. */
  presenceMs: number;
  /** Gateways to count on while the server was not reached yet. */
  gatewaysLeast: number;
  /** Names of one kind of limit in one exchange; the others have their turn in the next. */
  namesMax: number;
}>;

/** What holds when nothing else is said. */
export const sharingLimits: SharingLimits = {
  syncIntervalMs: 100,
  connectTimeoutMs: 2_000,
  commandTimeoutMs: 1_000,
  reconnectMaxMs: 500,
  presenceMs: 10_000,
  gatewaysLeast: 1,
  namesMax: 5_000,
};

/** The limits of this process that gateways share. Each decides by itself; here it hears of the others. */
type LimitParts = Readonly<{
  rates: RateLimiter;
  /** By their names. */
  windows: Readonly<Record<string, SlidingWindowLimiter>>;
  connections: Readonly<Record<string, ConnectionLimit>>;
  quota: QuotaLedger;
}>;

type SharedLimitsOptions = SharingLimits &
  Readonly<{
    /** Where it is shared. */
    store: LimitStore;
    /** What names of keys begin with. */
    prefix: string;
    parts: LimitParts;
    /** Hears when the exchange is away, and with null when it is there. */
    onState?: (error: unknown | null) => void;
  }>;

/** How often places are told of that did not change, within the time that they hold. */
const REFRESHES_PER_PRESENCE = 3;

/**
 * Carries what this gateway took to where it is shared, and brings back what all took. Decisions never wait for it:
 * while that is away each gateway has its part of every limit.
 */
export class SharedLimits {
  /** Names this run of this gateway. */
  readonly gateway: string = randomUUID();
  readonly #options: SharedLimitsOptions;
  readonly #syncs: readonly LimitSync[];
  readonly #stopped = new AbortController();
  #gateways: number;
  #isConnected: boolean | null = null;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
    this.#gateways = options.gatewaysLeast;
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

  /** Gateways that were there at the last exchange, this one among them. */
  get gateways(): number {
    return this.#gateways;
  }

  /** Whether the last exchange went well. */
  get isConnected(): boolean {
    return this.#isConnected === true;
  }

  /** Begins to exchange, and waits for the first exchange or the time that a connection may take. Never rejects. */
  async start(): Promise<void> {
    await this.#options.store.start();
    await this.sync();
    this.#running = this.#run();
  }

  /** Exchanges once. Never rejects. */
  async sync(): Promise<void> {
    try {
      await this.#syncOnce();
      this.#markConnected();
    } catch (error) {
      this.#markDisconnected(error);
    }
  }

  /** Says goodbye, so that its places are free at once. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    const { store } = this.#options;
    this.#refreshedAt = Number.NEGATIVE_INFINITY;
    await this.sync();
    if (this.isConnected) await store.execute([this.#leaveCommand]).catch(() => {});
    await store.stop();
  }

  get #presenceCommand(): LimitCommand {
    const { presenceMs } = this.#options;
    return { name: 'presence', keys: [this.#presenceKey], values: [this.gateway, presenceMs] };
  }

  get #leaveCommand(): LimitCommand {
    return { name: 'leave', keys: [this.#presenceKey], values: [this.gateway] };
  }

  get #presenceKey(): string {
    return `${this.#options.prefix}gateways`;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      await delay(this.#options.syncIntervalMs, undefined, { signal }).catch(() => {});
      if (!signal.aborted) await this.sync();
    }
  }

  /** There and back. @throws NotConnected; what the exchange throws. */
  async #syncOnce(): Promise<void> {
    const { presenceMs, store } = this.#options;
    if (store.problem !== null) throw store.problem;
    const nowMs = performance.now();
    const isRefresh = nowMs - this.#refreshedAt >= presenceMs / REFRESHES_PER_PRESENCE;
    if (isRefresh) this.#refreshedAt = nowMs;
    const time = { nowMs, isRefresh, isReset: this.#isConnected !== true };
    const commands = this.#syncs.map((one) => one.nextCommand(time)).filter((command) => command !== null);
    const [presence, ...answers] = await store.execute([this.#presenceCommand, ...commands]);
    const [serverMs, gateways] = presence as [number, number];
    this.#gateways = Math.max(1, gateways);
    const repliedMs = performance.now();
    commands.forEach(({ onReply }, index) => {
      onReply(answers[index] as unknown[], { nowMs: repliedMs, serverMs });
    });
  }

  #markConnected(): void {
    if (this.#isConnected === true) return;
    this.#isConnected = true;
    this.#divide(1);
    this.#options.onState?.(null);
  }

  #markDisconnected(error: unknown): void {
    if (this.#isConnected === false) return;
    this.#isConnected = false;
    this.#divide(Math.max(this.#gateways, this.#options.gatewaysLeast));
    this.#options.onState?.(error);
  }

  #divide(gateways: number): void {
    const { rates, windows, connections, quota } = this.#options.parts;
    for (const part of [rates, quota, ...Object.values(windows), ...Object.values(connections)]) {
      part.divide(gateways);
    }
  }
}

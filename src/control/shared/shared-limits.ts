import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionLimit } from '../../gateway/limits/connection-limit.ts';
import type { QuotaLedger } from '../../gateway/limits/quota.ts';
import type { RateLimiter } from '../../gateway/limits/rate-limiter.ts';
import type { SlidingWindowLimiter } from '../../gateway/limits/sliding-window-limiter.ts';
import type { LimitCommand, LimitStore } from './limit-store.ts';
import { connectionSync, type LimitSync, quotaSync, rateSync, windowSync } from './limit-sync.ts';

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
  gatewaysMin: number;
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
  gatewaysMin: 1,
  namesMax: 5_000,
};

/** The limits of this process that gateways share. Each decides by itself; here it hears of the others. */
export type LimitParts = Readonly<{
  rates: RateLimiter;
  /** By their names. */
  windows: Readonly<Record<string, SlidingWindowLimiter>>;
  connections: Readonly<Record<string, ConnectionLimit>>;
  quota: QuotaLedger;
}>;

export type SharedLimitsOptions = SharingLimits &
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
    this.#divide(Math.max(this.#gateways, this.#options.gatewaysMin));
    this.#options.onState?.(error);
  }

  #divide(gateways: number): void {
    const { rates, windows, connections, quota } = this.#options.parts;
    for (const part of [rates, quota, ...Object.values(windows), ...Object.values(connections)]) {
      part.divide(gateways);
    }
  }
}

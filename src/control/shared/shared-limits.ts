import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionLimit } from '../../access/connection-limit.ts';
import type { QuotaLedger } from '../../access/quota.ts';
import type { RateLimiter } from '../../access/rate-limit.ts';
import type { WindowLimit } from '../../access/window-limit.ts';
import { type Exchange, placesExchange, quotaExchange, ratesExchange, windowExchange } from './exchanges.ts';
import type { ExchangeStep, LimitExchange } from './limit-exchange.ts';

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
export type LimitParts = Readonly<{
  rates: RateLimiter;
  /** By their names. */
  windows: Readonly<Record<string, WindowLimit>>;
  places: Readonly<Record<string, ConnectionLimit>>;
  quota: QuotaLedger;
}>;

export type SharedLimitsOptions = SharingLimits &
  Readonly<{
    /** Where it is shared. */
    exchange: LimitExchange;
    /** What names of keys begin with. */
    prefix: string;
    parts: LimitParts;
    /** Hears when the exchange is away, and with null when it is there. */
    onState?: (error: unknown | null) => void;
  }>;

/** How often places are told of that did not change, within the time that they hold. */
const PLACES_TOLD_PER_PRESENCE = 3;

/**
 * Carries what this gateway took to where it is shared, and brings back what all took. Decisions never wait for it:
 * while that is away each gateway has its part of every limit.
 */
export class SharedLimits {
  /** Names this run of this gateway. */
  readonly gateway: string = randomUUID();
  readonly #options: SharedLimitsOptions;
  readonly #exchanges: readonly Exchange[];
  readonly #stopped = new AbortController();
  #gateways: number;
  #isThere: boolean | null = null;
  #placesToldAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | null = null;

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
    this.#gateways = options.gatewaysLeast;
    const { parts, prefix, namesMax, presenceMs, syncIntervalMs: intervalMs } = options;
    const common = { gateway: this.gateway, namesMax };
    this.#exchanges = [
      ratesExchange(parts.rates, `${prefix}rate:`, { ...common, intervalMs, gateways: () => this.#gateways }),
      ...Object.entries(parts.windows).map(([name, window]) =>
        windowExchange(window, `${prefix}window:${name}:`, common),
      ),
      ...Object.entries(parts.places).map(([name, places]) =>
        placesExchange(places, `${prefix}places:${name}:`, { ...common, presenceMs }),
      ),
      quotaExchange(parts.quota, `${prefix}quota:`, common),
    ];
  }

  /** Gateways that were there at the last exchange, this one among them. */
  get gateways(): number {
    return this.#gateways;
  }

  /** Whether the last exchange went well. */
  get isThere(): boolean {
    return this.#isThere === true;
  }

  /** Begins to exchange, and waits for the first exchange or the time that a connection may take. Never rejects. */
  async start(): Promise<void> {
    await this.#options.exchange.start();
    await this.sync();
    this.#running = this.#run();
  }

  /** Exchanges once. Never rejects. */
  async sync(): Promise<void> {
    try {
      await this.#exchange();
      this.#turnThere();
    } catch (error) {
      this.#turnAway(error);
    }
  }

  /** Says goodbye, so that its places are free at once. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    const { exchange } = this.#options;
    this.#placesToldAt = Number.NEGATIVE_INFINITY;
    await this.sync();
    if (this.isThere) await exchange.run([this.#leaving]).catch(() => {});
    await exchange.stop();
  }

  get #present(): ExchangeStep {
    const { presenceMs } = this.#options;
    return { name: 'presence', keys: [this.#presenceKey], values: [this.gateway, presenceMs] };
  }

  get #leaving(): ExchangeStep {
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
  async #exchange(): Promise<void> {
    const { presenceMs, exchange } = this.#options;
    if (exchange.problem !== null) throw exchange.problem;
    const nowMs = performance.now();
    const isRound = nowMs - this.#placesToldAt >= presenceMs / PLACES_TOLD_PER_PRESENCE;
    if (isRound) this.#placesToldAt = nowMs;
    const time = { nowMs, isRound, isAnew: this.#isThere !== true };
    const asked = this.#exchanges.map((one) => one.say(time)).filter((said) => said !== null);
    const [presence, ...answers] = await exchange.run([this.#present, ...asked]);
    const [serverMs, gateways] = presence as [number, number];
    this.#gateways = Math.max(1, gateways);
    const heardMs = performance.now();
    asked.forEach(({ hear }, index) => {
      hear(answers[index] as unknown[], { nowMs: heardMs, serverMs });
    });
  }

  #turnThere(): void {
    if (this.#isThere === true) return;
    this.#isThere = true;
    this.#divide(1);
    this.#options.onState?.(null);
  }

  #turnAway(error: unknown): void {
    if (this.#isThere === false) return;
    this.#isThere = false;
    this.#divide(Math.max(this.#gateways, this.#options.gatewaysLeast));
    this.#options.onState?.(error);
  }

  #divide(gateways: number): void {
    const { rates, windows, places, quota } = this.#options.parts;
    for (const part of [rates, quota, ...Object.values(windows), ...Object.values(places)]) {
      part.divide(gateways);
    }
  }
}

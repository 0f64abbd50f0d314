import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { ConnectionLimit } from '../../access/connection-limit.ts';
import type { QuotaLedger } from '../../access/quota.ts';
import type { RateLimiter } from '../../access/rate-limit.ts';
import type { WindowLimit } from '../../access/window-limit.ts';
import { type Exchange, placesExchange, quotaExchange, ratesExchange, windowExchange } from './exchanges.ts';
import { redisOptions } from './redis-options.ts';
import { PRESENCE } from './scripts.ts';

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
    /** `redis://` or `rediss://`; may hold a password. */
    url: string;
    /** Certificates of authorities, in PEM, for a server with one of its own. */
    ca: string | null;
    /** What names of keys begin with. */
    prefix: string;
    parts: LimitParts;
    /** Hears when the server is away, and with null when it is there. */
    onState?: (error: unknown | null) => void;
  }>;

/** The server is not connected; `cause` is the last error of a connection. */
export class NotConnected extends Error {
  constructor(cause: unknown) {
    super('the server of shared limits is not connected', { cause });
    this.name = 'NotConnected';
  }
}

/** How often places are told of that did not change, within the time that they hold. */
const PLACES_TOLD_PER_PRESENCE = 3;

/**
 * Carries what this gateway took to Redis or Valkey, and brings back what all took. Decisions never wait for it: while
 * the server is away each gateway has its part of every limit.
 */
export class SharedLimits {
  /** Names this run of this gateway. */
  readonly gateway: string = randomUUID();
  readonly #options: SharedLimitsOptions;
  readonly #redis: Redis;
  readonly #exchanges: readonly Exchange[];
  readonly #stopped = new AbortController();
  #gateways: number;
  #isThere: boolean | null = null;
  #placesToldAt = Number.NEGATIVE_INFINITY;
  #connectionError: unknown;
  #running: Promise<void> | null = null;

  constructor(options: SharedLimitsOptions) {
    this.#options = options;
    this.#gateways = options.gatewaysLeast;
    this.#redis = new Redis(options.url, redisOptions(options));
    // Said by the exchanges that fail.
    this.#redis.on('error', (error) => {
      this.#connectionError = error;
    });
    const { parts, prefix, namesMax, presenceMs } = options;
    const common = { gateway: this.gateway, namesMax };
    this.#exchanges = [
      ratesExchange(parts.rates, `${prefix}rate:`, { ...common, gateways: () => this.#gateways }),
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
    if (this.#redis.status !== 'ready') {
      const ready = new Promise((resolve) => this.#redis.once('ready', resolve));
      await Promise.race([ready, delay(this.#options.connectTimeoutMs, undefined, { ref: false })]);
    }
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
    if (this.#redis.status === 'ready') {
      this.#placesToldAt = Number.NEGATIVE_INFINITY;
      await this.sync();
      await this.#redis.zrem(this.#presenceKey, this.gateway).catch(() => {});
    }
    this.#redis.disconnect();
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

  /** One pipeline there and back. @throws NotConnected, or what the client throws. */
  async #exchange(): Promise<void> {
    if (this.#redis.status !== 'ready') throw new NotConnected(this.#connectionError);
    const { presenceMs } = this.#options;
    const nowMs = performance.now();
    const isRound = nowMs - this.#placesToldAt >= presenceMs / PLACES_TOLD_PER_PRESENCE;
    if (isRound) this.#placesToldAt = nowMs;
    const pipeline = this.#redis.pipeline();
    pipeline.eval(PRESENCE, 1, this.#presenceKey, this.gateway, presenceMs);
    const asked = this.#exchanges.flatMap((exchange) => {
      const said = exchange.say({ nowMs, isRound, isAnew: this.#isThere !== true });
      if (said === null) return [];
      pipeline.eval(said.script, said.keys.length, ...said.keys, ...said.values);
      return [said];
    });
    const [presence, ...answers] = answersOf(await pipeline.exec());
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

/** Why the server is away, in words that hold no secret and name the remedy. */
export function sharingProblem(error: unknown): string {
  const { code, message = '' } = ((error instanceof NotConnected ? error.cause : error) ?? {}) as {
    code?: string;
    message?: string;
  };
  if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(message))
    return 'it does not take user and password: correct shared.redis_url';
  if (/timed out/i.test(message)) return 'it does not answer in time';
  if (code === 'ECONNREFUSED') return 'nothing listens there: check that it runs, and shared.redis_url';
  if (code === 'ENOTFOUND') return 'its host is unknown: correct shared.redis_url';
  return 'it is not connected: check that it runs, and shared.redis_url';
}

/** @throws the first error among the answers. */
function answersOf(results: [Error | null, unknown][] | null): unknown[] {
  if (results === null) throw new NotConnected(undefined);
  return results.map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
}

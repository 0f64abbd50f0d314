import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type ExchangeStep, type LimitExchange, NotConnected } from './limit-exchange.ts';
import { type RedisReach, redisOptions } from './redis-options.ts';
import { scripts } from './scripts.ts';

export type RedisExchangeOptions = RedisReach &
  Readonly<{
    /** `redis://` or `rediss://`; may hold a password. */
    url: string;
  }>;

/** Limits that gateways on several machines share, in Redis or Valkey. */
export class RedisExchange implements LimitExchange {
  readonly #redis: Redis;
  readonly #connectTimeoutMs: number;
  #connectionError: unknown;

  constructor(options: RedisExchangeOptions) {
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#redis = new Redis(options.url, redisOptions(options));
    // Said by the exchanges that fail.
    this.#redis.on('error', (error) => {
      this.#connectionError = error;
    });
  }

  get problem(): NotConnected | null {
    return this.#redis.status === 'ready' ? null : new NotConnected(this.#connectionError);
  }

  async start(): Promise<void> {
    if (this.problem === null) return;
    const ready = new Promise((resolve) => this.#redis.once('ready', resolve));
    await Promise.race([ready, delay(this.#connectTimeoutMs, undefined, { ref: false })]);
  }

  /** One pipeline there and back. */
  async run(steps: readonly ExchangeStep[]): Promise<readonly unknown[]> {
    const pipeline = this.#redis.pipeline();
    for (const { name, keys, values } of steps) {
      pipeline.eval(scripts[name], keys.length, ...keys, ...values);
    }
    return answersOf(await pipeline.exec());
  }

  async stop(): Promise<void> {
    this.#redis.disconnect();
  }
}

/** @throws the first error among the answers. */
function answersOf(results: [Error | null, unknown][] | null): unknown[] {
  if (results === null) throw new NotConnected(undefined);
  return results.map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
}

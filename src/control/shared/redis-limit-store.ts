import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type LimitCommand, type LimitStore, LimitStoreUnavailableError } from './limit-store.ts';
import { scripts } from './redis-limit-scripts.ts';
import { type RedisConnectionOptions, redisOptions } from './redis-options.ts';

export type RedisLimitStoreOptions = RedisConnectionOptions &
  Readonly<{
    /** `redis://` or `rediss://`; may hold a password. */
    url: string;
  }>;

/** Limits that gateways on several machines share, in Redis or Valkey. */
export class RedisLimitStore implements LimitStore {
  readonly #redis: Redis;
  readonly #connectTimeoutMs: number;
  #connectionError: unknown;

  constructor(options: RedisLimitStoreOptions) {
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#redis = new Redis(options.url, redisOptions(options));
    // Said by the exchanges that fail.
    this.#redis.on('error', (error) => {
      this.#connectionError = error;
    });
  }

  get problem(): LimitStoreUnavailableError | null {
    return this.#redis.status === 'ready' ? null : new LimitStoreUnavailableError(this.#connectionError);
  }

  async start(): Promise<void> {
    if (this.problem === null) return;
    const ready = new Promise((resolve) => this.#redis.once('ready', resolve));
    await Promise.race([ready, delay(this.#connectTimeoutMs, undefined, { ref: false })]);
  }

  /** One pipeline there and back. */
  async execute(steps: readonly LimitCommand[]): Promise<readonly unknown[]> {
    const pipeline = this.#redis.pipeline();
    for (const { name, keys, values } of steps) {
      pipeline.eval(scripts[name], keys.length, ...keys, ...values);
    }
    return repliesOf(await pipeline.exec());
  }

  async stop(): Promise<void> {
    this.#redis.disconnect();
  }
}

/** @throws the first error among the answers. */
function repliesOf(results: [Error | null, unknown][] | null): unknown[] {
  if (results === null) throw new LimitStoreUnavailableError(undefined);
  return results.map(([error, answer]) => {
    if (error !== null) throw error;
    return answer;
  });
}

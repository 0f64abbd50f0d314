import { Redis } from 'ioredis';
import { type RedisConnectionOptions, redisOptions } from './redis-options.ts';

export type RedisCacheClientOptions = RedisConnectionOptions &
  Readonly<{
    /** `redis://` or `rediss://`; may hold a password. */
    url: string;
    /** What names of keys begin with. */
    prefix: string;
    /** Bytes that may wait to be written to the server; beyond them nothing is stored. */
    pendingMaxBytes: number;
    /** Hears when the server is away, and with null when it is there. */
    onState?: (error: unknown | null) => void;
  }>;

/**
 * Answers that several gateways keep together, in Redis or Valkey. Each has a time after which it is forgotten; how much
 * room all may take is the server's own limit (`maxmemory`, with a policy of eviction).
 */
export class RedisCacheClient {
  readonly #options: RedisCacheClientOptions;
  readonly #redis: Redis;
  #pendingBytes = 0;
  #isConnected: boolean | null = null;

  constructor(options: RedisCacheClientOptions) {
    this.#options = options;
    this.#redis = new Redis(options.url, redisOptions(options));
    this.#redis.on('error', (error) => this.#updateState(error));
    this.#redis.on('ready', () => this.#updateState(null));
  }

  /** Gives null at once while the server is away. */
  get(key: string, onValue: (body: Buffer | null) => void): void {
    if (this.#redis.status !== 'ready') {
      onValue(null);
      return;
    }
    this.#redis.getBuffer(this.#nameOf(key)).then(onValue, () => onValue(null));
  }

  /** Stores nothing while the server is away, or does not keep up. */
  set(key: string, body: Buffer, ttlMs: number): void {
    const { length } = body;
    if (this.#redis.status !== 'ready' || this.#pendingBytes + length > this.#options.pendingMaxBytes) return;
    this.#pendingBytes += length;
    const written = (): void => {
      this.#pendingBytes -= length;
    };
    this.#redis.set(this.#nameOf(key), body, 'PX', Math.ceil(ttlMs)).then(written, written);
  }

  stop(): void {
    this.#redis.disconnect();
  }

  /** Keys are text of one character a byte. */
  #nameOf(key: string): Buffer {
    return Buffer.from(`${this.#options.prefix}answer:${key}`, 'latin1');
  }

  #updateState(error: unknown | null): void {
    const isConnected = error === null;
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    this.#options.onState?.(error);
  }
}

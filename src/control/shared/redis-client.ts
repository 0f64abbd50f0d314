import { Redis, type RedisOptions } from 'ioredis';
import type { OnState } from '../failure-state.ts';
import { LimitStoreUnavailableError } from './limit-store.ts';

export type RedisConnectionOptions = Readonly<{
  connectTimeoutMs: number;
  /** If a command takes longer, the server counts as unreachable. */
  commandTimeoutMs: number;
  reconnectMaxMs: number;
  /** CA certificates in PEM; null: the system's certificates. */
  ca: string | null;
}>;

export const redisOptions = (options: RedisConnectionOptions) =>
  ({
    connectTimeout: options.connectTimeoutMs,
    commandTimeout: options.commandTimeoutMs,
    retryStrategy: (tries: number) => Math.min(50 * tries, options.reconnectMaxMs),
    // Commands are not queued while disconnected: limits and cache entries would be stale after the reconnect.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    ...(options.ca === null ? {} : { tls: { ca: options.ca } }),
  }) satisfies RedisOptions;

/** Describes a connection error and how to fix it, without secrets. */
export function describeRedisError(error: unknown): string {
  const cause = error instanceof LimitStoreUnavailableError ? error.cause : error;
  const { code, message = '' } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  if (/^(WRONGPASS|NOAUTH|NOPERM)/.test(message))
    return 'it rejects the user or password. Correct shared.redis_url';
  if (/timed out/i.test(message)) return 'it does not respond in time';
  if (code === 'ECONNREFUSED') return 'connection refused. Check that it runs, and shared.redis_url';
  if (code === 'ENOTFOUND') return 'its host name is unknown. Correct shared.redis_url';
  return 'it is not connected. Check that it runs, and shared.redis_url';
}

type RedisCacheClientOptions = RedisConnectionOptions &
  Readonly<{
    /** `redis://` or `rediss://`; may contain a password. */
    url: string;
    prefix: string;
    /** Maximum bytes of unacknowledged writes; above this, new values are not stored. */
    pendingMaxBytes: number;
    onState?: OnState;
  }>;

/** Response cache shared by gateways. The Redis server limits the memory (`maxmemory` with an eviction policy). */
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

  /** Calls back with null immediately while the server is unreachable. */
  get(key: string, onValue: (body: Buffer | null) => void): void {
    if (this.#redis.status !== 'ready') {
      onValue(null);
      return;
    }
    this.#redis.getBuffer(this.#nameOf(key)).then(onValue, () => onValue(null));
  }

  /** Stores nothing while the server is unreachable or too many bytes are unacknowledged. */
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

  /** Keys are latin1 strings of raw bytes. */
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

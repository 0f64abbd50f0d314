import { Redis, type RedisOptions } from 'ioredis';
import { LimitStoreUnavailableError } from './limit-store.ts';

/** How a server of Redis or Valkey is reached. */
export type RedisConnectionOptions = Readonly<{
  connectTimeoutMs: number;
  /** One command; beyond it the server counts as away. */
  commandTimeoutMs: number;
  /** The longest pause between two tries to connect. */
  reconnectMaxMs: number;
  /** Certificates (PEM) of authorities, for a server with one of its own; null for those that the machine trusts. */
  ca: string | null;
}>;

/** The client's options for a server that is spoken to only while it is there. */
export const redisOptions = ({
  connectTimeoutMs,
  commandTimeoutMs,
  reconnectMaxMs,
  ca,
}: RedisConnectionOptions) =>
  ({
    connectTimeout: connectTimeoutMs,
    commandTimeout: commandTimeoutMs,
    retryStrategy: (tries: number) => Math.min(50 * tries, reconnectMaxMs),
    // What cannot be said now is of no use later.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    ...(ca === null ? {} : { tls: { ca } }),
  }) satisfies RedisOptions;

/** Why a server of Redis is away, in words that hold no secret and name the remedy. */
export function describeRedisError(error: unknown): string {
  const { code, message = '' } = ((error instanceof LimitStoreUnavailableError ? error.cause : error) ??
    {}) as {
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

type RedisCacheClientOptions = RedisConnectionOptions &
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

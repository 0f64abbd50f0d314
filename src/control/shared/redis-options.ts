import type { RedisOptions } from 'ioredis';

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

import type { GrpcStatus } from '../../protocol/grpc/status.ts';

export type StreamBacklog = Readonly<{
  messages: number;
  /** Encoded messages only: block messages are encoded when they are sent. */
  bytes: number;
  /** Incomplete blocks. */
  blocks?: number;
  /** From the replay's next slot to the first stored one. */
  slots?: number;
}>;

export interface GeyserSink {
  /**
   * Two shared parts of a message, never modified afterwards: encoded `filters`, where equal ones share the
   * bytes, empty for none; and the rest.
   */
  push(names: Uint8Array, tail: Uint8Array): void;
  /** Unread; without it, producers do not throttle. */
  readonly waitingBytes?: number;
  readonly waitingMessages?: number;
  /** After the queued messages. */
  end(status: GrpcStatus): void;
  /** The client is slow: ends after the queued messages. */
  lag(backlog: StreamBacklog): void;
}

import type { GrpcStatus } from '../../protocol/grpc/status.ts';

export type StreamBacklog = Readonly<{
  messages: number;
  /** Bytes of encoded messages only: block messages are encoded when they are sent. */
  bytes: number;
  blocks?: number;
  /** Number of slots between the replay's next slot and the first stored slot. */
  slots?: number;
}>;

export interface GeyserSink {
  /**
   * Sends a message in two parts, which are shared and immutable. Messages with equal `names` (encoded `filters`) share
   * one array.
   */
  push(names: Uint8Array, tail: Uint8Array): void;
  /** Unread bytes; if undefined, producers do not throttle. */
  readonly waitingBytes?: number;
  readonly waitingMessages?: number;
  /** Ends the stream after the queued messages. */
  end(status: GrpcStatus): void;
  /** Ends the stream of a slow client. */
  lag(backlog: StreamBacklog): void;
}

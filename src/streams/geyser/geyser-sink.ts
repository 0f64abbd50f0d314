import type { GrpcStatus } from '../../protocol/grpc/status.ts';

/** Data that a client has not read. */
export type StreamBacklog = Readonly<{
  messages: number;
  /** Encoded messages only: block messages are encoded when they are sent. */
  bytes: number;
  /** Incomplete blocks. */
  blocks?: number;
  /** Slots between the replay's next one and the first stored one. */
  slots?: number;
}>;

/** Output of one stream. */
export interface GeyserSink {
  /**
   * One message in two shared parts, never modified afterwards.
   * @param names - encoded `filters`; equal ones share the bytes. Empty for none.
   * @param tail - the rest of the message.
   */
  push(names: Uint8Array, tail: Uint8Array): void;
  /** Unread bytes; without it, producers do not throttle. */
  readonly waitingBytes?: number;
  readonly waitingMessages?: number;
  /** Ends the stream after the queued messages. */
  end(status: GrpcStatus): void;
  /** Ends the stream of a slow client after the queued messages. */
  lag(backlog: StreamBacklog): void;
}

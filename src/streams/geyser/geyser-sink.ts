import type { GrpcStatus } from '../../protocol/grpc/status.ts';

export type StreamBacklog = Readonly<{
  messages: number;
  /** Encoded messages only: block messages are encoded when they are sent. */
  bytes: number;
  blocks?: number;
  /** Slots between the replay's next one and the first stored one. */
  slots?: number;
}>;

export interface GeyserSink {
  /** Two shared parts of a message, never modified. Equal `names`, encoded `filters`, share the bytes. */
  push(names: Uint8Array, tail: Uint8Array): void;
  /** Unread; without it, producers do not throttle. */
  readonly waitingBytes?: number;
  readonly waitingMessages?: number;
  /** Ends the stream after the queued messages. */
  end(status: GrpcStatus): void;
  /** Ends the stream of a slow client. */
  lag(backlog: StreamBacklog): void;
}

import type { GrpcStatus } from '../../protocol/grpc/status.ts';

/** How much of its stream a client has not taken yet. */
export type StreamBacklog = Readonly<{
  messages: number;
  /** Of those of them that are made already: messages of blocks are made when their turn comes. */
  bytes: number;
  /** Blocks that were not told whole. */
  blocks?: number;
  /** Slots between what a replay was to tell next and the first that is held still. */
  slots?: number;
}>;

/** Where the messages of one stream go. */
export interface GeyserSink {
  /**
   * One message, in two parts that are shared with other streams and never modified afterwards.
   * @param names - encoded `filters`; equal ones are the same bytes. Empty for none.
   * @param tail - the rest of the message.
   */
  push(names: Uint8Array, tail: Uint8Array): void;
  /** Bytes that wait for the client to take them; without it, whoever has much to tell takes no heed. */
  readonly waitingBytes?: number;
  readonly waitingMessages?: number;
  /** Ends the stream; what was pushed before still goes out. */
  end(status: GrpcStatus): void;
  /** Ends the stream, since its client is too slow for it; what was pushed before still goes out. */
  lag(backlog: StreamBacklog): void;
}

import type { GrpcStatus } from '../../protocol/grpc/status.ts';

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
}

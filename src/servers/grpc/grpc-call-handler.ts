import type { Caller } from '../../protocol/request-handler.ts';
import type { StreamBacklog } from '../../streams/geyser/geyser-sink.ts';

/** Handler of one call. What it throws ends the call. */
export interface GrpcCallHandler {
  /** A request is still expected. */
  readonly needsRequest: boolean;
  /** The call would not end by itself. */
  readonly isEndless: boolean;
  /**
   * Called with received messages; valid until it returns.
   * @param bytes - received, or the bytes by which decompression exceeds them.
   */
  onMessages(messages: readonly Buffer[], bytes: number): void;
  onHalfClose(): void;
  /** The call ends because the client reads too slowly. */
  onLagging?(): void;
  /** The call has ended, whoever ended it. Called once. */
  /** The call has ended. Called once. */
  /** The stream is closed; queued messages are no longer sent. Called once, after `onClose`. */
  onStreamClose?(): void;
  /** Called about once a second. @param nowMs - of `performance.now()`. */
  tick(nowMs: number): void;
}

/** An open call as its handler sees it. */
export interface CallPeer extends Caller {
  /** The same object for all calls of a connection. */
  readonly connection: object;
  /** Bytes not yet sent to the client. */
  readonly waitingBytes: number;
  readonly waitingMessages?: number;
  /** Sends the response headers. */
  open(): void;
  /** Queues a message in two parts, which must not be modified afterwards. */
  push(names: Uint8Array, tail: Uint8Array): void;
  /** Disables joining with messages of later event loop turns. */
  setUrgent(): void;
  /** Ends the call with a GrpcError or Failure; other exceptions are logged and become INTERNAL. */
  fail(thrown: unknown): void;
  /** Ends the call with LAGGING and notifies the handler. */
  onLagging(behind: StreamBacklog): void;
  /** Ends the call with OK. */
  complete(): void;
  /** Counts memory held until the call ends. @throws Failure OVERLOADED */
  reserve(bytes: number): void;
  pauseReading(forMs: number): void;
  /** Messages passed to HTTP/2 since the last call, and their uncompressed bytes. */
  takeSent(): { messages: number; bytes: number };
}

/** @throws GrpcError or Failure to refuse the call. */
export type CallHandlerFactory = (peer: CallPeer) => GrpcCallHandler;

/** First part of messages that have only one. */
export const NO_NAMES: Uint8Array = new Uint8Array();

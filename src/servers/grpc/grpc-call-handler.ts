import type { Caller } from '../../protocol/request-handler.ts';
import type { StreamBacklog } from '../../streams/geyser/geyser-sink.ts';

/** What answers one call. What it throws ends the call. */
export interface GrpcCallHandler {
  /** Whether a request is still waited for. */
  readonly needsRequest: boolean;
  /** Whether it would never end by itself. */
  readonly isEndless: boolean;
  /**
   * Requests that arrived; each is to be used before this returns, or copied.
   * @param bytes - that came, or that these have more than came, unpacked.
   */
  onMessages(messages: readonly Buffer[], bytes: number): void;
  /** The client sends nothing more. */
  onHalfClose(): void;
  /** It ends because the client reads too slowly. */
  onLagging?(): void;
  /** The call has ended, whoever ended it. Called once. */
  onClose(): void;
  /** Its stream is gone, too: nothing that still waited when it had ended is sent any more. Called once, after `closed`. */
  onStreamClose?(): void;
  /** Called about once a second. @param nowMs - of `performance.now()`. */
  tick(nowMs: number): void;
}

/** What an open call is to whoever answers it. */
export interface CallPeer extends Caller {
  /** The same for all calls of a connection. */
  readonly connection: object;
  /** Bytes that wait for the client to take them. */
  readonly waitingBytes: number;
  readonly waitingMessages?: number;
  /** Sends the headers of the answer, ahead of its messages. */
  open(): void;
  /** Queues a message in two parts, neither of which is modified afterwards. */
  push(names: Uint8Array, tail: Uint8Array): void;
  /** From now on nothing waits to leave together with what comes in a later turn. */
  setUrgent(): void;
  /** Ends the call with what was thrown: GrpcError, Failure; anything else is logged and INTERNAL. */
  fail(thrown: unknown): void;
  /** Ends the call with LAGGING; its handler hears of it. */
  onLagging(behind: StreamBacklog): void;
  /** Ends the call with OK. */
  complete(): void;
  /** Counts bytes that are held until the call ends. @throws Failure OVERLOADED when there is no room for them. */
  reserve(bytes: number): void;
  /** Reads nothing for so long. */
  pauseReading(forMs: number): void;
  /** Messages that were handed to HTTP/2 since the last look, and their bytes before compression. */
  takeSent(): { messages: number; bytes: number };
}

/** Makes what answers a call. @throws GrpcError, Failure: the call is refused. */
export type CallHandlerFactory = (peer: CallPeer) => GrpcCallHandler;

/** The second part of messages that have only one. */
export const NO_NAMES: Uint8Array = new Uint8Array();

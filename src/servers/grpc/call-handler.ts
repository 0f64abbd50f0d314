import { GrpcError } from '../../protocol/grpc/status.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import type { StreamBacklog } from '../../streams/geyser/geyser-sink.ts';
import type { Outbox } from './outbox.ts';

/** Handles one call. An exception thrown by a method ends the call. */
export interface GrpcCallHandler {
  readonly needsRequest: boolean;
  readonly isEndless: boolean;
  /** Messages are valid until the method returns. @param bytes - number of bytes received or added by decompression. */
  onMessages(messages: readonly Buffer[], bytes: number): void;
  onHalfClose(): void;
  onLagging?(): void;
  onClose(): void;
  /** Called once, after `onClose`, when the stream has closed. No queued messages are sent after this. */
  onStreamClose?(): void;
  tick?(nowMs: number): void;
}

export interface CallPeer extends Caller {
  /** The same object for all calls on a connection. */
  readonly connection: object;
  readonly outbox: Outbox;
  open(): void;
  /** Exceptions other than Failure, GrpcError and InvalidProtobuf are logged and become INTERNAL. */
  fail(thrown: unknown): void;
  onLagging(behind: StreamBacklog): void;
  complete(): void;
  reserve(bytes: number): void;
  pauseReading(forMs: number): void;
}

/** @throws GrpcError or Failure to reject the call. */
export type CallHandlerFactory = (peer: CallPeer) => GrpcCallHandler;

/** First part of messages that have no filter names. */
export const NO_FILTER_NAMES: Uint8Array = new Uint8Array();

/** Calls `release` when the call ends. */
export function withRelease(handler: GrpcCallHandler, release: () => void): GrpcCallHandler {
  const onClose = handler.onClose.bind(handler);
  handler.onClose = () => {
    release();
    onClose();
  };
  return handler;
}

/** Source: grpc, doc/statuscodes.md. */
export const requestCountError = (): GrpcError =>
  new GrpcError('UNIMPLEMENTED', 'this method takes exactly one request message');

export class UnaryCall implements GrpcCallHandler {
  readonly isEndless = false;
  readonly #peer: CallPeer;
  readonly #respond: (request: Uint8Array) => Promise<Uint8Array>;
  #request: Buffer | null = null;
  #isStarted = false;
  #isClosed = false;

  constructor(peer: CallPeer, respond: (request: Uint8Array) => Promise<Uint8Array>) {
    this.#peer = peer;
    this.#respond = respond;
  }

  get needsRequest(): boolean {
    return !this.#isStarted;
  }

  onMessages(messages: readonly Buffer[]): void {
    if (messages.length === 0) return;
    if (this.#request !== null || messages.length > 1) throw requestCountError();
    const message = messages[0] as Buffer;
    this.#peer.reserve(message.length);
    // Copy the message, because it may keep a much larger buffer alive.
    this.#request = Buffer.from(message);
  }

  /** Starts the call, because only now is the number of requests known. */
  onHalfClose(): void {
    if (this.#request === null) throw requestCountError();
    this.#isStarted = true;
    this.#respond(this.#request).then(
      (response) => this.#send(response),
      (thrown) => this.#peer.fail(thrown),
    );
  }

  onClose(): void {
    this.#isClosed = true;
  }

  #send(response: Uint8Array): void {
    if (this.#isClosed) return;
    this.#peer.open();
    this.#peer.outbox.push(NO_FILTER_NAMES, response);
    this.#peer.complete();
  }
}

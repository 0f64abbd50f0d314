import { GrpcError } from '../../protocol/grpc/status.ts';
import { type CallPeer, type GrpcCallHandler, NO_NAMES } from './grpc-call-handler.ts';

/** For no request or several. Source: grpc, doc/statuscodes.md. */
export const notOneRequest = (): GrpcError =>
  new GrpcError('UNIMPLEMENTED', 'this method takes exactly one request message');

/** Handler of a unary call. */
export class UnaryCall implements GrpcCallHandler {
  readonly isEndless = false;
  readonly #peer: CallPeer;
  readonly #respond: (request: Uint8Array) => Promise<Uint8Array>;
  #request: Buffer | null = null;
  #isStarted = false;
  #isClosed = false;

  /** @param respond - rejects with GrpcError or Failure. */
  constructor(peer: CallPeer, respond: (request: Uint8Array) => Promise<Uint8Array>) {
    this.#peer = peer;
    this.#respond = respond;
  }

  get needsRequest(): boolean {
    return !this.#isStarted;
  }

  onMessages(messages: readonly Buffer[]): void {
    if (messages.length === 0) return;
    if (this.#request !== null || messages.length > 1) throw notOneRequest();
    const message = messages[0] as Buffer;
    this.#peer.reserve(message.length);
    // A copy: the message may be a small part of a large buffer.
    this.#request = Buffer.from(message);
  }

  /** Only now the number of requests is known. */
  onHalfClose(): void {
    if (this.#request === null) throw notOneRequest();
    this.#isStarted = true;
    this.#respond(this.#request).then(
      (response) => this.#send(response),
      (thrown) => this.#peer.fail(thrown),
    );
  }

  onClose(): void {
    this.#isClosed = true;
  }

  tick(): void {}

  #send(response: Uint8Array): void {
    if (this.#isClosed) return;
    this.#peer.open();
    this.#peer.push(NO_NAMES, response);
    this.#peer.complete();
  }
}

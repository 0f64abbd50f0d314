import { GrpcError } from '../../protocol/grpc/status.ts';
import { type CallHandler, type CallPeer, NO_NAMES } from './call-handler.ts';

/** What a call with one request gets that has none, or several. Source: grpc, doc/statuscodes.md. */
export const notOneRequest = (): GrpcError =>
  new GrpcError('UNIMPLEMENTED', 'this method takes exactly one request message');

/** One request, then one answer. */
export class UnaryCall implements CallHandler {
  readonly isEndless = false;
  readonly #peer: CallPeer;
  readonly #answer: (request: Uint8Array) => Promise<Uint8Array>;
  #request: Buffer | null = null;
  #isAsked = false;
  #isOver = false;

  /** @param answer - rejects with GrpcError or Failure. */
  constructor(peer: CallPeer, answer: (request: Uint8Array) => Promise<Uint8Array>) {
    this.#peer = peer;
    this.#answer = answer;
  }

  get wants(): boolean {
    return !this.#isAsked;
  }

  messages(messages: readonly Buffer[]): void {
    if (messages.length === 0) return;
    if (this.#request !== null || messages.length > 1) throw notOneRequest();
    const message = messages[0] as Buffer;
    this.#peer.hold(message.length);
    // A copy, since it may be one byte of all that came with it.
    this.#request = Buffer.from(message);
  }

  /** Only now is it known that there is one request. */
  halfClosed(): void {
    if (this.#request === null) throw notOneRequest();
    this.#isAsked = true;
    this.#answer(this.#request).then(
      (answer) => this.#tell(answer),
      (thrown) => this.#peer.fail(thrown),
    );
  }

  closed(): void {
    this.#isOver = true;
  }

  look(): void {}

  #tell(answer: Uint8Array): void {
    if (this.#isOver) return;
    this.#peer.open();
    this.#peer.push(NO_NAMES, answer);
    this.#peer.done();
  }
}

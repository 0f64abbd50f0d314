import { Failure } from '../../protocol/errors.ts';
import { handleReflection } from '../../protocol/grpc/reflection.ts';
import { type CallPeer, type GrpcCallHandler, NO_NAMES } from './grpc-call-handler.ts';

/** Streams without a key end when more response bytes are unsent. */
const WAITING_MAX_BYTES = 1024 * 1024;

/** Answers each reflection request until the client half-closes. */
export class ReflectionCall implements GrpcCallHandler {
  readonly isEndless = true;
  /** Subject to the request timeout. */
  readonly needsRequest = true;
  readonly #peer: CallPeer;

  constructor(peer: CallPeer) {
    this.#peer = peer;
    peer.open();
  }

  onMessages(messages: readonly Buffer[]): void {
    for (const message of messages) {
      if (this.#peer.waitingBytes > WAITING_MAX_BYTES) throw new Failure('OVERLOADED');
      this.#peer.push(NO_NAMES, handleReflection(message));
    }
  }

  onHalfClose(): void {
    this.#peer.complete();
  }

  onClose(): void {}

  tick(): void {}
}

import { Failure } from '../../protocol/errors.ts';
import { answerReflection } from '../../protocol/grpc/reflection.ts';
import { type CallHandler, type CallPeer, NO_NAMES } from './call-handler.ts';

/** Nobody has shown a key: who asks more than it reads is sent away. */
const WAITING_MAX_BYTES = 1024 * 1024;

/** Answers each request with what the server speaks, for as long as requests come. */
export class ReflectionCall implements CallHandler {
  readonly isEndless = true;
  /** The next one is waited for no longer than any request. */
  readonly wants = true;
  readonly #peer: CallPeer;

  constructor(peer: CallPeer) {
    this.#peer = peer;
    peer.open();
  }

  messages(messages: readonly Buffer[]): void {
    for (const message of messages) {
      if (this.#peer.waitingBytes > WAITING_MAX_BYTES) throw new Failure('OVERLOADED');
      this.#peer.push(NO_NAMES, answerReflection(message));
    }
  }

  halfClosed(): void {
    this.#peer.done();
  }

  closed(): void {}

  look(): void {}
}

import { Failure } from '../../protocol/errors.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import type { CallHandler, CallMaker, CallPeer } from './call-handler.ts';
import { CountedCall } from './counted-call.ts';
import type { GrpcServerOptions } from './options.ts';

type Limits = Pick<
  GrpcServerOptions,
  'keylessStreamsMax' | 'keylessStreamsPerConnectionMax' | 'keylessStreamMaxMs'
>;

/**
 * Places for streams that need no key: health and reflection. They are few, on one connection fewer, apart from those of
 * streams with a key, and each is given back after a time, so that nobody keeps them from others for ever.
 */
export class KeylessStreams {
  readonly #limits: Limits;
  readonly #byConnection = new WeakMap<object, number>();
  #open = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** What makes such a stream, while there is a place. */
  maker(make: (peer: CallPeer) => CallHandler): CallMaker {
    return (peer) => {
      const { keylessStreamsMax, keylessStreamsPerConnectionMax, keylessStreamMaxMs } = this.#limits;
      const isFull = this.#open >= keylessStreamsMax;
      if (isFull || this.#of(peer.connection) >= keylessStreamsPerConnectionMax) {
        throw new Failure('OVERLOADED');
      }
      const endsAtMs = performance.now() + keylessStreamMaxMs;
      const stream = new TimedCall(make(peer), () => this.#count(peer.connection, -1), peer, endsAtMs);
      this.#count(peer.connection, 1);
      return stream;
    };
  }

  #of(connection: object): number {
    return this.#byConnection.get(connection) ?? 0;
  }

  #count(connection: object, by: 1 | -1): void {
    this.#open += by;
    this.#byConnection.set(connection, this.#of(connection) + by);
  }
}

/** A call that ends when its time is over. */
class TimedCall extends CountedCall {
  readonly #peer: CallPeer;
  readonly #endsAtMs: number;

  constructor(handler: CallHandler, onClosed: () => void, peer: CallPeer, endsAtMs: number) {
    super(handler, onClosed);
    this.#peer = peer;
    this.#endsAtMs = endsAtMs;
  }

  override look(nowMs: number): void {
    if (nowMs < this.#endsAtMs) super.look(nowMs);
    else
      this.#peer.fail(new GrpcError('UNAVAILABLE', 'the stream was open for as long as it may: call again'));
  }
}

import { Failure } from '../../protocol/errors.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import { CountedCall } from './counted-call.ts';
import type { CallHandlerFactory, CallPeer, GrpcCallHandler } from './grpc-call-handler.ts';
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
  wrap(createHandler: (peer: CallPeer) => GrpcCallHandler): CallHandlerFactory {
    return (peer) => {
      const { keylessStreamsMax, keylessStreamsPerConnectionMax, keylessStreamMaxMs } = this.#limits;
      const isFull = this.#open >= keylessStreamsMax;
      if (isFull || this.#countOf(peer.connection) >= keylessStreamsPerConnectionMax) {
        throw new Failure('OVERLOADED');
      }
      const endsAtMs = performance.now() + keylessStreamMaxMs;
      const stream = new TimedCall(
        createHandler(peer),
        () => this.#count(peer.connection, -1),
        peer,
        endsAtMs,
      );
      this.#count(peer.connection, 1);
      return stream;
    };
  }

  #countOf(connection: object): number {
    return this.#byConnection.get(connection) ?? 0;
  }

  #count(connection: object, by: 1 | -1): void {
    this.#open += by;
    this.#byConnection.set(connection, this.#countOf(connection) + by);
  }
}

/** A call that ends when its time is over. */
class TimedCall extends CountedCall {
  readonly #peer: CallPeer;
  readonly #endsAtMs: number;

  constructor(handler: GrpcCallHandler, release: () => void, peer: CallPeer, endsAtMs: number) {
    super(handler, release);
    this.#peer = peer;
    this.#endsAtMs = endsAtMs;
  }

  override tick(nowMs: number): void {
    if (nowMs < this.#endsAtMs) super.tick(nowMs);
    else
      this.#peer.fail(new GrpcError('UNAVAILABLE', 'the stream was open for as long as it may: call again'));
  }
}

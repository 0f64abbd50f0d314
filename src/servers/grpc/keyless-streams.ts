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
 * Limit of streams without a key: health and reflection. They have a separate, small limit and a maximum age, so that
 * they cannot exhaust the streams of customers.
 */
export class KeylessStreams {
  readonly #limits: Limits;
  readonly #byConnection = new WeakMap<object, number>();
  #open = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

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

/** A call with a maximum age. */
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
      this.#peer.fail(new GrpcError('UNAVAILABLE', 'Maximum stream age reached. Open a new stream.'));
  }
}

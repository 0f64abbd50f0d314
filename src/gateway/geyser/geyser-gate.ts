import { ConnectionLimit } from '../../access/connection-limit.ts';
import type { KeyRecord } from '../../access/key-record.ts';
import { Failure } from '../../protocol/errors.ts';
import type { Product } from '../../protocol/product.ts';
import type { GeyserDoor, GeyserStream, StreamRpc, UnaryRpc } from '../../streams/geyser/geyser-door.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import type { StreamOpener } from '../../streams/geyser/stream-opener.ts';
import { type GeyserGateParts, takeRate } from './gate-parts.ts';
import { GateStream } from './gate-stream.ts';
import { MeteredCall } from './metered-call.ts';

/** The product that a stream without a good key is counted under. */
const usualProducts: Readonly<Record<StreamRpc, Product>> = {
  Subscribe: 'grpc',
  SubscribeDeshred: 'fs',
  SubscribeEntries: 'fs',
};

/** The way of gRPC streams and calls: a key, whose product says what may be opened, then its plan, rate and usage. */
export class GeyserGate implements GeyserDoor {
  readonly #parts: GeyserGateParts;
  readonly #places = new ConnectionLimit();

  constructor(parts: GeyserGateParts) {
    this.#parts = parts;
  }

  open(
    credential: string | null,
    rpc: StreamRpc,
    sink: GeyserSink,
    onEnd: (failure: Failure) => void,
  ): GeyserStream {
    const call = new MeteredCall(this.#parts, usualProducts[rpc], rpc, 0);
    try {
      const key = this.#parts.keys.identify(credential, Date.now());
      const opener = this.#openerOf(key.product, rpc);
      call.key = key;
      takeRate(this.#parts, key);
      const stream = this.#open(key, opener, rpc, sink, onEnd);
      call.succeed();
      return stream;
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  async unary(credential: string | null, rpc: UnaryRpc, request: Uint8Array): Promise<Uint8Array> {
    const call = new MeteredCall(this.#parts, 'grpc', rpc, request.length);
    try {
      const key = this.#parts.keys.identify(credential, Date.now());
      if (key.product === 'rpc') throw new Failure('UNAUTHORIZED_PRODUCT');
      call.key = key;
      takeRate(this.#parts, key);
      const answer = this.#parts.standard.unary(rpc, request);
      call.succeed(answer.length);
      return answer;
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  /** @throws Failure UNAUTHORIZED_PRODUCT, UPSTREAM_UNAVAILABLE. */
  #openerOf(product: Product, rpc: StreamRpc): StreamOpener {
    const { standard, shred } = this.#parts;
    if (product === 'grpc' && rpc === 'Subscribe') return standard;
    if (product !== 'fs') throw new Failure('UNAUTHORIZED_PRODUCT');
    if (shred !== null) return shred;
    throw new Failure('UPSTREAM_UNAVAILABLE', {
      retryAfter: null,
      cause: 'no source of shreds is configured',
    });
  }

  /** @throws Failure CONNECTION_LIMIT, GrpcError UNIMPLEMENTED. */
  #open(
    key: KeyRecord,
    opener: StreamOpener,
    rpc: StreamRpc,
    sink: GeyserSink,
    onEnd: (failure: Failure) => void,
  ): GeyserStream {
    const { grpcStreamsMax: streamsMax } = key.limits;
    if (!this.#places.take(key.familyId, streamsMax)) {
      throw new Failure('CONNECTION_LIMIT', { facts: { streamsMax } });
    }
    const release = (): void => this.#places.giveBack(key.familyId);
    try {
      const opened = opener.open(rpc, sink);
      return new GateStream({ gate: this.#parts, key, rpc, opened, onEnd, release });
    } catch (thrown) {
      release();
      throw thrown;
    }
  }
}

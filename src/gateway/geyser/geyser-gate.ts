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

/** Calls about the stage that answers them; the others are about the chain, which the shred stage knows nothing of. */
const stageRpcs: ReadonlySet<UnaryRpc> = new Set(['Ping', 'GetVersion', 'SubscribeReplayInfo']);

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
      call.key = key;
      takeRate(this.#parts, key);
      const opener = this.#openerOf(key.product, rpc);
      const stream = this.#open(key, opener, rpc, sink, onEnd);
      call.succeed();
      return stream;
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  admit(credential: string | null, rpc: UnaryRpc): void {
    try {
      this.#answererOf(this.#parts.keys.identify(credential, Date.now()).product, rpc);
    } catch (thrown) {
      throw new MeteredCall(this.#parts, 'grpc', rpc, 0).refuse(thrown);
    }
  }

  async unary(credential: string | null, rpc: UnaryRpc, request: Uint8Array): Promise<Uint8Array> {
    const call = new MeteredCall(this.#parts, 'grpc', rpc, request.length);
    try {
      const key = this.#parts.keys.identify(credential, Date.now());
      call.key = key;
      takeRate(this.#parts, key);
      const answer = this.#answererOf(key.product, rpc).unary(rpc, request);
      call.succeed(answer.length);
      return answer;
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  /** @throws Failure UNAUTHORIZED_PRODUCT, NO_SHRED_STAGE. */
  #answererOf(product: Product, rpc: UnaryRpc): StreamOpener {
    if (product === 'rpc') throw new Failure('UNAUTHORIZED_PRODUCT');
    return product === 'fs' && stageRpcs.has(rpc) ? this.#shredStage() : this.#parts.standard;
  }

  /** @throws Failure UNAUTHORIZED_PRODUCT, NO_SHRED_STAGE. */
  #openerOf(product: Product, rpc: StreamRpc): StreamOpener {
    if (product === 'grpc' && rpc === 'Subscribe') return this.#parts.standard;
    if (product !== 'fs') throw new Failure('UNAUTHORIZED_PRODUCT');
    return this.#shredStage();
  }

  /** @throws Failure NO_SHRED_STAGE. */
  #shredStage(): StreamOpener {
    const { shred } = this.#parts;
    if (shred === null) throw new Failure('NO_SHRED_STAGE');
    return shred;
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

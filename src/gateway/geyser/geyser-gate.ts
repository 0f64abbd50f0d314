import { ConnectionLimit } from '../../access/connection-limit.ts';
import type { KeyRecord } from '../../access/key-record.ts';
import { Failure } from '../../protocol/errors.ts';
import { grpcCalls } from '../../protocol/grpc/calls.ts';
import type { Product } from '../../protocol/product.ts';
import type { Caller, Client } from '../../protocol/serve.ts';
import type { GeyserDoor, GeyserStream, StreamRpc, UnaryRpc } from '../../streams/geyser/geyser-door.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import type { StreamOpener } from '../../streams/geyser/stream-opener.ts';
import type { GeyserGateParts } from './gate-parts.ts';
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
  readonly #places: ConnectionLimit;

  constructor(parts: GeyserGateParts) {
    this.#parts = parts;
    this.#places = parts.places ?? new ConnectionLimit();
  }

  open(caller: Caller, rpc: StreamRpc, sink: GeyserSink, onEnd: (failure: Failure) => void): GeyserStream {
    const { admission } = this.#parts;
    const { client } = caller;
    const call = new MeteredCall(this.#parts, caller, usualProducts[rpc], rpc, 0);
    try {
      const key = this.#identify(caller, call);
      admission.permit(call.visit, rpc, grpcCalls[rpc]);
      admission.takeRate(call.visit);
      const opener = this.#openerOf(key.product, rpc);
      const stream = this.#open(key, client, opener, rpc, sink, onEnd);
      call.succeed();
      return stream;
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  admit(caller: Caller, rpc: UnaryRpc): void {
    const call = new MeteredCall(this.#parts, caller, 'grpc', rpc, 0);
    try {
      this.#answererOf(this.#identify(caller, call).product, rpc);
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  async unary(caller: Caller, rpc: UnaryRpc, request: Uint8Array): Promise<Uint8Array> {
    const { admission } = this.#parts;
    const call = new MeteredCall(this.#parts, caller, 'grpc', rpc, request.length);
    try {
      const key = this.#identify(caller, call);
      admission.permit(call.visit, rpc, grpcCalls[rpc]);
      admission.takeRate(call.visit);
      const answer = this.#answererOf(key.product, rpc).unary(rpc, request);
      call.succeed(answer.length);
      return answer;
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  #identify(caller: Caller, { visit }: MeteredCall): KeyRecord {
    return this.#parts.admission.identify(caller, null, this.#parts.network, visit);
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
    client: Client,
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
      return new GateStream({ gate: this.#parts, key, client, rpc, opened, sink, onEnd, release });
    } catch (thrown) {
      release();
      throw thrown;
    }
  }
}

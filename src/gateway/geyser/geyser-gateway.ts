import { Failure } from '../../protocol/errors.ts';
import { grpcCalls } from '../../protocol/grpc/calls.ts';
import type { Product } from '../../protocol/product.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import type {
  GeyserHandler,
  GeyserStream,
  HttpStreamHandler,
  StreamOpener,
  StreamRpc,
  UnaryRpc,
} from '../../streams/geyser/geyser-handler.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import type { LoadedKey } from '../auth/key-state.ts';
import { ConnectionLimit } from '../limits/connection-limit.ts';
import { ClientStream, type ClientStreamParts } from './client-stream.ts';
import { type GeyserGatewayParts, MeteredCall } from './metered-call.ts';

/** Product under which a stream without a valid key is metered. */
const defaultProducts: Readonly<Record<StreamRpc, Product>> = {
  Subscribe: 'grpc',
  SubscribeDeshred: 'fs',
  SubscribeEntries: 'fs',
};

/** Unary calls that the shred stage supports. The others need chain state, which the shred stage lacks. */
const stageRpcs: ReadonlySet<UnaryRpc> = new Set(['Ping', 'GetVersion', 'SubscribeReplayInfo']);

/** Admits gRPC streams and unary calls. The key's product determines which stage serves them. */
export class GeyserGateway implements GeyserHandler, HttpStreamHandler {
  readonly #parts: GeyserGatewayParts;
  readonly #streamLimit: ConnectionLimit;

  constructor(parts: GeyserGatewayParts) {
    this.#parts = parts;
    this.#streamLimit = parts.streamLimit ?? new ConnectionLimit();
  }

  open(caller: Caller, rpc: StreamRpc, sink: GeyserSink, onEnd: (failure: Failure) => void): GeyserStream {
    const { client } = caller;
    const facts = { product: defaultProducts[rpc], method: rpc, bytesIn: 0 };
    const call = new MeteredCall(this.#parts, caller, facts);
    try {
      const key = this.#authorize(caller, call, rpc);
      const opener = this.#openerOf(key.product, rpc);
      const stream = this.#open(opener, { key, client, rpc, sink, onEnd });
      call.succeed();
      return stream;
    } catch (thrown) {
      throw call.recordFailure(thrown);
    }
  }

  admit(caller: Caller, rpc: UnaryRpc): void {
    const call = new MeteredCall(this.#parts, caller, { product: 'grpc', method: rpc, bytesIn: 0 });
    try {
      this.#unaryOpenerOf(this.#authenticate(caller, call).product, rpc);
    } catch (thrown) {
      throw call.recordFailure(thrown);
    }
  }

  admitStream(caller: Caller, rpc: StreamRpc): string {
    const facts = { product: defaultProducts[rpc], method: rpc, bytesIn: 0 };
    const call = new MeteredCall(this.#parts, caller, facts);
    try {
      const { product, customerId } = this.#authenticate(caller, call);
      this.#openerOf(product, rpc);
      return customerId;
    } catch (thrown) {
      throw call.recordFailure(thrown);
    }
  }

  async unary(caller: Caller, rpc: UnaryRpc, request: Uint8Array): Promise<Uint8Array> {
    const facts = { product: 'grpc', method: rpc, bytesIn: request.length } as const;
    const call = new MeteredCall(this.#parts, caller, facts);
    try {
      const key = this.#authorize(caller, call, rpc);
      const response = this.#unaryOpenerOf(key.product, rpc).unary(rpc, request);
      call.succeed(response.length);
      return response;
    } catch (thrown) {
      throw call.recordFailure(thrown);
    }
  }

  #authenticate(caller: Caller, { context }: MeteredCall): LoadedKey {
    return this.#parts.admission.authenticate(caller, null, this.#parts.network, context);
  }

  #authorize(caller: Caller, call: MeteredCall, rpc: StreamRpc | UnaryRpc): LoadedKey {
    const key = this.#authenticate(caller, call);
    this.#parts.admission.authorize(call.context, rpc, grpcCalls[rpc]);
    this.#parts.admission.consumeRate(call.context);
    return key;
  }

  #unaryOpenerOf(product: Product, rpc: UnaryRpc): StreamOpener {
    if (product === 'rpc') throw new Failure('UNAUTHORIZED_PRODUCT');
    return product === 'fs' && stageRpcs.has(rpc) ? this.#shredStage() : this.#parts.standard;
  }

  #openerOf(product: Product, rpc: StreamRpc): StreamOpener {
    if (product === 'grpc' && rpc === 'Subscribe') return this.#parts.standard;
    if (product !== 'fs') throw new Failure('UNAUTHORIZED_PRODUCT');
    return this.#shredStage();
  }

  #shredStage(): StreamOpener {
    const { shred } = this.#parts;
    if (shred === null) throw new Failure('NO_SHRED_STAGE');
    return shred;
  }

  #open(
    opener: StreamOpener,
    parts: Omit<ClientStreamParts, 'gateway' | 'opened' | 'release'>,
  ): GeyserStream {
    const { key, rpc, sink } = parts;
    const { grpcStreamsMax: streamsMax } = key.limits;
    if (!this.#streamLimit.tryAcquire(key.familyId, streamsMax)) {
      throw new Failure('CONNECTION_LIMIT', { facts: { streamsMax } });
    }
    const release = (): void => this.#streamLimit.release(key.familyId);
    try {
      const opened = opener.open(rpc, sink);
      return new ClientStream({ ...parts, gateway: this.#parts, opened, release });
    } catch (thrown) {
      release();
      throw thrown;
    }
  }
}

import { Failure } from '../../protocol/errors.ts';
import { type RequestBounds, requestBounds } from '../../protocol/geyser/request/request-bounds.ts';
import type { SubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { type GrpcCall, grpcCalls } from '../../protocol/grpc/calls.ts';
import type { ClientInfo } from '../../protocol/request-handler.ts';
import type { GeyserStream, OpenedStream, StreamRpc } from '../../streams/geyser/geyser-handler.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import type { KeyUse } from '../auth/key-rules.ts';
import type { RequestContext } from '../request-context.ts';
import type { GeyserGatewayParts } from './geyser-gateway-parts.ts';
import { LiveStream } from './live-stream.ts';
import { MeteredCall } from './metered-call.ts';
import { checkPlan, extraCallsOf } from './request-limits.ts';

/** Under which name a stream's requests are counted. */
const requestNames: Readonly<Record<StreamRpc, GrpcCall>> = {
  Subscribe: 'SubscribeRequest',
  SubscribeDeshred: 'SubscribeDeshredRequest',
  // Has none: its one request opens it.
  SubscribeEntries: 'SubscribeEntries',
};

/** What a stream is made of. */
export type ClientStreamParts = Readonly<{
  gateway: GeyserGatewayParts;
  /** As it was when the stream began: whose it is does not change, and its plan may. */
  key: KeyRecord;
  client: ClientInfo;
  rpc: StreamRpc;
  opened: OpenedStream;
  sink: GeyserSink;
  /** Called when the key no longer holds. */
  onEnd: (failure: Failure) => void;
  /** Gives the stream's place back. */
  release: () => void;
}>;

/** A stream of a key: each request within its plan and its rate, all that goes over it counted. */
export class ClientStream implements GeyserStream {
  readonly #parts: ClientStreamParts;
  readonly #unwatch: () => void;
  /** Bytes that came since the last request that was counted. */
  #bytesIn = 0;
  readonly #live: LiveStream;
  readonly #unregister: (() => void) | undefined;
  #ended = false;
  #closed = false;

  constructor(parts: ClientStreamParts) {
    this.#parts = parts;
    const { gateway, key, rpc, client, sink, onEnd } = parts;
    const end = (failure: Failure): void => {
      this.#end();
      onEnd(failure);
    };
    this.#unwatch = gateway.watch.watch(key.id, this.#use, end);
    this.#live = new LiveStream(rpc, key, client.address, sink, end);
    this.#unregister = gateway.connections?.add(this.#live);
  }

  /** The shred stage is there for being early. */
  get isUrgent(): boolean {
    return this.#parts.key.product === 'fs';
  }

  /** Those of the plan as it is now. */
  get bounds(): RequestBounds {
    const { grpcFiltersMax, grpcPubkeysMax } = this.#currentKey.limits;
    return { ...requestBounds, filtersMax: grpcFiltersMax, pubkeysMax: grpcPubkeysMax };
  }

  async request(request: SubscribeRequest | SubscribeDeshredRequest): Promise<void> {
    const { gateway, rpc, key, client, opened } = this.#parts;
    const { admission } = gateway;
    const call = new MeteredCall(gateway, { client }, key.product, requestNames[rpc], this.#bytesIn);
    const { context } = call;
    this.#bytesIn = 0;
    context.key = key;
    try {
      const { limits } = this.#authenticate(context);
      admission.authorize(context, rpc, grpcCalls[requestNames[rpc]], requestNames[rpc]);
      admission.consumeRate(context);
      checkPlan(request, limits);
      const extraCalls = extraCallsOf(request);
      if (extraCalls > 0) admission.consumeRate(context, extraCalls);
      await opened.request(request);
      this.#live.update(request);
      call.succeed();
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  recordSent(messages: number, bytes: number): void {
    const { gateway, rpc } = this.#parts;
    const key = this.#currentKey;
    const { product } = key;
    this.#live.messages += messages;
    this.#live.bytes += bytes;
    gateway.meter.recordMessages({ key, product, method: rpc, messages, bytesOut: bytes });
  }

  recordReceived(messages: number, bytes: number): number {
    const { familyId, limits } = this.#currentKey;
    this.#bytesIn += bytes;
    return this.#parts.gateway.messageLimiter.consume(familyId, limits, messages, bytes, performance.now());
  }

  recordLagged(): void {
    const { gateway, key } = this.#parts;
    gateway.connections?.recordLagged(key.customerId, Date.now());
  }

  close(): void {
    this.#end();
    if (this.#closed) return;
    this.#closed = true;
    this.#unregister?.();
    this.#parts.release();
  }

  /** Nothing more is told; the place stays taken until the connection is done with it. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unwatch();
    this.#parts.opened.close();
  }

  get #use(): KeyUse {
    return { client: this.#parts.client, network: this.#parts.gateway.network };
  }

  get #currentKey(): KeyRecord {
    const { gateway, key } = this.#parts;
    return gateway.admission.keys.current(key);
  }

  /** The key as it is now: its plan and its rules may have changed. @throws Failure CLIENT_GONE, as `identifyAgain`. */
  #authenticate(context: RequestContext): KeyRecord {
    if (this.#ended) throw new Failure('CLIENT_GONE');
    return this.#parts.gateway.admission.reauthenticate(this.#parts.key.id, this.#use, context);
  }
}

import type { KeyRecord } from '../../access/key-record.ts';
import type { KeyUse } from '../../access/key-rules.ts';
import type { Visit } from '../../access/visit.ts';
import { Failure } from '../../protocol/errors.ts';
import { type RequestBounds, requestBounds } from '../../protocol/geyser/request/request-bounds.ts';
import type { SubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { type GrpcCall, grpcCalls } from '../../protocol/grpc/calls.ts';
import type { Client } from '../../protocol/serve.ts';
import type { GeyserStream, StreamRpc } from '../../streams/geyser/geyser-door.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import type { OpenedStream } from '../../streams/geyser/stream-opener.ts';
import type { GeyserGateParts } from './gate-parts.ts';
import { LiveStream } from './live-stream.ts';
import { MeteredCall } from './metered-call.ts';
import { callsOf, checkPlan } from './request-limits.ts';

/** Under which name a stream's requests are counted. */
const requestNames: Readonly<Record<StreamRpc, GrpcCall>> = {
  Subscribe: 'SubscribeRequest',
  SubscribeDeshred: 'SubscribeDeshredRequest',
  // Has none: its one request opens it.
  SubscribeEntries: 'SubscribeEntries',
};

/** What a stream is made of. */
export type GateStreamParts = Readonly<{
  gate: GeyserGateParts;
  /** As it was when the stream began: whose it is does not change, and its plan may. */
  key: KeyRecord;
  client: Client;
  rpc: StreamRpc;
  opened: OpenedStream;
  sink: GeyserSink;
  /** Called when the key no longer holds. */
  onEnd: (failure: Failure) => void;
  /** Gives the stream's place back. */
  release: () => void;
}>;

/** A stream of a key: each request within its plan and its rate, all that goes over it counted. */
export class GateStream implements GeyserStream {
  readonly #parts: GateStreamParts;
  readonly #unwatch: () => void;
  /** Bytes that came since the last request that was counted. */
  #bytesIn = 0;
  readonly #live: LiveStream;
  readonly #unlist: (() => void) | undefined;
  #ended = false;
  #closed = false;

  constructor(parts: GateStreamParts) {
    this.#parts = parts;
    const { gate, key, rpc, client, sink, onEnd } = parts;
    const end = (failure: Failure): void => {
      this.#end();
      onEnd(failure);
    };
    this.#unwatch = gate.watch.watch(key.id, this.#use, end);
    this.#live = new LiveStream(rpc, key, client.address, sink, end);
    this.#unlist = gate.connections?.opened(this.#live);
  }

  /** The shred stage is there for being early. */
  get isUrgent(): boolean {
    return this.#parts.key.product === 'fs';
  }

  /** Those of the plan as it is now. */
  get bounds(): RequestBounds {
    const { grpcFiltersMax, grpcPubkeysMax } = this.#keyNow.limits;
    return { ...requestBounds, filtersMax: grpcFiltersMax, pubkeysMax: grpcPubkeysMax };
  }

  async request(request: SubscribeRequest | SubscribeDeshredRequest): Promise<void> {
    const { gate, rpc, key, client, opened } = this.#parts;
    const { admission } = gate;
    const call = new MeteredCall(gate, { client }, key.product, requestNames[rpc], this.#bytesIn);
    const { visit } = call;
    this.#bytesIn = 0;
    visit.key = key;
    try {
      const { limits } = this.#identify(visit);
      admission.permit(visit, rpc, grpcCalls[requestNames[rpc]], requestNames[rpc]);
      admission.takeRate(visit);
      checkPlan(request, limits);
      const more = callsOf(request);
      if (more > 0) admission.takeRate(visit, more);
      await opened.request(request);
      this.#live.asked(request);
      call.succeed();
    } catch (thrown) {
      throw call.refuse(thrown);
    }
  }

  sent(messages: number, bytes: number): void {
    const { gate, rpc } = this.#parts;
    const key = this.#keyNow;
    const { product } = key;
    this.#live.messages += messages;
    this.#live.bytes += bytes;
    gate.meter.sent({ key, product, method: rpc, messages, bytesOut: bytes });
  }

  received(messages: number, bytes: number): number {
    const { familyId, limits } = this.#keyNow;
    this.#bytesIn += bytes;
    return this.#parts.gate.pace.spend(familyId, limits, messages, bytes, performance.now());
  }

  lagged(): void {
    const { gate, key } = this.#parts;
    gate.connections?.cutForLag(key.customerId, Date.now());
  }

  close(): void {
    this.#end();
    if (this.#closed) return;
    this.#closed = true;
    this.#unlist?.();
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
    return { client: this.#parts.client, network: this.#parts.gate.network };
  }

  get #keyNow(): KeyRecord {
    const { gate, key } = this.#parts;
    return gate.admission.keys.current(key);
  }

  /** The key as it is now: its plan and its rules may have changed. @throws Failure CLIENT_GONE, as `identifyAgain`. */
  #identify(visit: Visit): KeyRecord {
    if (this.#ended) throw new Failure('CLIENT_GONE');
    return this.#parts.gate.admission.identifyAgain(this.#parts.key.id, this.#use, visit);
  }
}

import type { ClientInfo } from '../../protocol/client-info.ts';
import { Failure } from '../../protocol/errors.ts';
import { type RequestBounds, requestBounds } from '../../protocol/geyser/request/request-faults.ts';
import type { SubscribeDeshredRequest, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { type GrpcCall, grpcCalls } from '../../protocol/grpc/calls.ts';
import {
  blocksCount,
  cuckooBytes,
  filtersCount,
  pubkeysCount,
} from '../../streams/geyser/filters/request-size.ts';
import type { GeyserStream, OpenedStream, StreamRpc } from '../../streams/geyser/geyser-handler.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import type { PlanLimits } from '../auth/key-record.ts';
import type { KeyUse } from '../auth/key-rules.ts';
import type { LoadedKey } from '../auth/key-state.ts';
import { extraCallsFor } from '../limits/rate-limiter.ts';
import type { RequestContext } from '../metering/call-meter.ts';
import type { LiveConnection } from '../telemetry/live-connections.ts';
import { type GeyserGatewayParts, MeteredCall } from './metered-call.ts';

type StreamRequest = SubscribeRequest | SubscribeDeshredRequest;

/** Extra calls charged per block filter, because each block is megabytes in size. */
const CALLS_PER_BLOCK_FILTER = 1;
/** Extra calls charged for a replay, which sends many slots at once. */
const CALLS_PER_REPLAY = 10;

const requestNames: Readonly<Record<StreamRpc, GrpcCall>> = {
  Subscribe: 'SubscribeRequest',
  SubscribeDeshred: 'SubscribeDeshredRequest',
  // The client sends only one request, which opens the stream.
  SubscribeEntries: 'SubscribeEntries',
};

/** Error messages match those of other Geyser servers. @throws Failure FILTER_LIMIT. */
export function checkPlan(request: StreamRequest, limits: PlanLimits): void {
  const rejectAbove = (count: number, max: number, of: string): void => {
    if (count > max) throw new Failure('FILTER_LIMIT', { facts: { of, max } });
  };
  rejectAbove(filtersCount(request), limits.grpcFiltersMax, 'filters');
  rejectAbove(blocksCount(request), limits.grpcBlocksMax, 'block filters');
  rejectAbove(pubkeysCount(request), limits.grpcPubkeysMax, 'Pubkeys');
  rejectAbove(cuckooBytes(request), limits.grpcCuckooMaxBytes, 'bytes of cuckoo filters');
}

export const extraCallsOf = (request: StreamRequest): number =>
  extraCallsFor(pubkeysCount(request)) +
  blocksCount(request) * CALLS_PER_BLOCK_FILTER +
  (('fromSlot' in request ? request.fromSlot : undefined) === undefined ? 0 : CALLS_PER_REPLAY);

export type ClientStreamParts = Readonly<{
  gateway: GeyserGatewayParts;
  /** The key as it was when the stream opened. Its owner never changes, but its plan may. */
  key: LoadedKey;
  client: ClientInfo;
  rpc: StreamRpc;
  opened: OpenedStream;
  sink: GeyserSink;
  onEnd: (failure: Failure) => void;
  release: () => void;
}>;

export class ClientStream implements GeyserStream {
  readonly #parts: ClientStreamParts;
  readonly #unwatch: () => void;
  /** Bytes received but not yet included in a metered request. */
  #bytesIn = 0;
  readonly #live: LiveStream;
  readonly #unregister: (() => void) | undefined;
  #ended = false;
  #closed = false;

  constructor(parts: ClientStreamParts) {
    this.#parts = parts;
    const { gateway, key, onEnd } = parts;
    const end = (failure: Failure): void => {
      this.#end();
      onEnd(failure);
    };
    this.#unwatch = gateway.watch.watch(key, this.#use, end);
    this.#live = new LiveStream(parts, end);
    this.#unregister = gateway.connections?.add(this.#live);
  }

  /** Shred stage streams are sold for their low latency. */
  get isUrgent(): boolean {
    return this.#parts.key.product === 'fs';
  }

  get bounds(): RequestBounds {
    const { grpcFiltersMax, grpcPubkeysMax } = this.#currentKey.limits;
    return { ...requestBounds, filtersMax: grpcFiltersMax, pubkeysMax: grpcPubkeysMax };
  }

  async request(request: StreamRequest): Promise<void> {
    const { gateway, rpc, key, client, opened } = this.#parts;
    const { admission } = gateway;
    const facts = { product: key.product, method: requestNames[rpc], bytesIn: this.#bytesIn };
    const call = new MeteredCall(gateway, { client }, facts);
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
      throw call.recordFailure(thrown);
    }
  }

  recordSent(messages: number, bytes: number): void {
    const { gateway, rpc } = this.#parts;
    const key = this.#currentKey;
    const { product } = key;
    this.#live.messages += messages;
    this.#live.bytes += bytes;
    const { meter, network } = gateway;
    meter.recordMessages({ key, product, method: rpc, network, messages, bytesOut: bytes });
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

  /** Ends the stream, which still counts against the limit until `close`. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unwatch();
    this.#parts.opened.close();
  }

  get #use(): KeyUse {
    return { client: this.#parts.client, network: this.#parts.gateway.network };
  }

  get #currentKey(): LoadedKey {
    const { gateway, key } = this.#parts;
    return gateway.admission.keys.current(key);
  }

  #authenticate(context: RequestContext): LoadedKey {
    if (this.#ended) throw new Failure('CLIENT_GONE');
    return this.#parts.gateway.admission.reauthenticate(this.#parts.key.id, this.#use, context);
  }
}

/** Number of filters of each kind (by protobuf field name) and of addresses, such as `accounts 2`, `addresses 5`. */
function describeRequest(request: StreamRequest): string[] {
  const filters = request as Partial<SubscribeRequest & SubscribeDeshredRequest>;
  const counts = {
    accounts: filters.accounts?.size,
    slots: filters.slots?.size,
    transactions: filters.transactions?.size,
    transactions_status: filters.transactionsStatus?.size,
    blocks: filters.blocks?.size,
    blocks_meta: filters.blocksMeta?.length,
    entry: filters.entry?.length,
    deshred_transactions: filters.deshredTransactions?.size,
    addresses: pubkeysCount(request),
  };
  return Object.entries(counts).flatMap(([kind, count]) => ((count ?? 0) > 0 ? [`${kind} ${count}`] : []));
}

class LiveStream implements LiveConnection {
  readonly kind = 'grpc';
  readonly rpc: StreamRpc;
  readonly key: LoadedKey;
  readonly address: string;
  readonly end: (failure: Failure) => void;
  messages = 0;
  bytes = 0;
  subscriptions = 0;
  #describe: readonly string[] = [];
  readonly #sink: GeyserSink;

  constructor({ rpc, key, client, sink }: ClientStreamParts, end: (failure: Failure) => void) {
    this.rpc = rpc;
    this.key = key;
    this.address = client.address;
    this.#sink = sink;
    this.end = end;
  }

  get queuedMessages(): number {
    return this.#sink.waitingMessages ?? 0;
  }

  get queuedBytes(): number {
    return this.#sink.waitingBytes ?? 0;
  }

  update(request: StreamRequest): void {
    this.subscriptions = filtersCount(request);
    this.#describe = describeRequest(request);
  }

  describe(max: number): string[] {
    return this.#describe.slice(0, max);
  }
}

import type { Failure } from '../../protocol/errors.ts';
import { type RequestBounds, requestBounds } from '../../protocol/geyser/request/request-faults.ts';
import type { SubscribeDeshredRequest, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import type { GeyserSink } from './geyser-sink.ts';

/** A stream of a hub, without key checks or plan limits. */
export interface OpenedStream {
  /** @throws GrpcError INVALID_ARGUMENT, OUT_OF_RANGE, INTERNAL with the texts of other Geyser servers. */
  request(request: SubscribeRequest | SubscribeDeshredRequest): Promise<void>;
  /** Idempotent. */
  close(): void;
}

/** Distributes events to many streams. */
export interface StreamOpener {
  /** @throws GrpcError UNIMPLEMENTED for unsupported streams. */
  open(rpc: StreamRpc, sink: GeyserSink): OpenedStream;
  /** @throws GrpcError; InvalidProtobuf for a malformed request. */
  unary(rpc: UnaryRpc, request: Uint8Array): Uint8Array;
}

/** Unary methods. Source: geyser.proto, `service Geyser`. */
export const unaryRpcs = [
  'SubscribeReplayInfo',
  'Ping',
  'GetLatestBlockhash',
  'GetBlockHeight',
  'GetSlot',
  'IsBlockhashValid',
  'GetVersion',
] as const;
export type UnaryRpc = (typeof unaryRpcs)[number];

/** Streaming methods of `geyser.Geyser` and, for `SubscribeEntries`, of `shredstream.ShredstreamProxy`. */
export type StreamRpc = 'Subscribe' | 'SubscribeDeshred' | 'SubscribeEntries';

/** An open stream of one client. Messages go to the sink with which the stream was opened. */
export interface GeyserStream {
  /** If true, messages are not delayed for batching, because latency matters. */
  readonly isUrgent: boolean;
  /** Requests that exceed these bounds are rejected. */
  readonly bounds: RequestBounds;
  /**
   * Applies a request, which replaces the previous one. The caller handles pings. A `SubscribeEntries` stream has no
   * requests.
   * @throws GrpcError INVALID_ARGUMENT, OUT_OF_RANGE …, Failure: both end the stream.
   */
  request(request: SubscribeRequest | SubscribeDeshredRequest): Promise<void>;
  /** Records what was passed to the socket. Called per batch, not per message. */
  recordSent(messages: number, bytes: number): void;
  /**
   * Counts received messages.
   * @param bytes - bytes received, or added by decompression.
   * @returns how many milliseconds to pause reading; Infinity to end the stream.
   */
  recordReceived(messages: number, bytes: number): number;
  /** Called when the client is disconnected for reading too slowly. */
  recordLagged?(): void;
  /** Releases the stream permit. Idempotent. */
  close(): void;
}

export interface GeyserHandler {
  /**
   * Checks the key and acquires a stream permit. `onEnd` is called at most once, when the key is no longer valid.
   * @throws Failure TOO_MANY_WRONG_KEYS, MISSING_KEY, INVALID_KEY, UNAUTHORIZED_PRODUCT, KEYS_UNAVAILABLE,
   * NETWORK_FORBIDDEN, ADDRESS_FORBIDDEN, ORIGIN_FORBIDDEN, METHOD_FORBIDDEN, QUOTA_EXCEEDED, RATE_LIMITED,
   * CONNECTION_LIMIT.
   */
  open(caller: Caller, rpc: StreamRpc, sink: GeyserSink, onEnd: (failure: Failure) => void): GeyserStream;
  /** Called before the request is read. @throws Failure like `open`, except for limits; also NO_SHRED_STAGE. */
  admit(caller: Caller, rpc: UnaryRpc): void;
  /** @throws Failure like `open`; GrpcError with Yellowstone's messages; InvalidProtobuf. */
  unary(caller: Caller, rpc: UnaryRpc, request: Uint8Array): Promise<Uint8Array>;
}

/** Serves the streams over HTTP. */
export interface HttpStreamHandler extends Pick<GeyserHandler, 'open'> {
  /**
   * Called before the body is read.
   * @returns the id of the customer.
   * @throws Failure like `open`, except for limits.
   */
  admitStream(caller: Caller, rpc: StreamRpc): string;
}

export class UnauthenticatedHandler implements GeyserHandler {
  readonly #opener: StreamOpener;

  constructor(opener: StreamOpener) {
    this.#opener = opener;
  }

  open(_caller: unknown, rpc: StreamRpc, sink: GeyserSink): GeyserStream {
    const stream = this.#opener.open(rpc, sink);
    return {
      isUrgent: false,
      bounds: requestBounds,
      request: (request) => stream.request(request),
      recordSent: () => {},
      recordReceived: () => 0,
      close: () => stream.close(),
    };
  }

  admit(): void {}

  async unary(_caller: unknown, rpc: UnaryRpc, request: Uint8Array): Promise<Uint8Array> {
    return this.#opener.unary(rpc, request);
  }
}

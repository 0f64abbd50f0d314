import type { Failure } from '../../protocol/errors.ts';
import { type RequestBounds, requestBounds } from '../../protocol/geyser/request/request-bounds.ts';
import type { SubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { Caller } from '../../protocol/request-handler.ts';
import type { GeyserSink } from './geyser-sink.ts';

/** A stream as a hub knows it: no key, no limits of a plan. */
export interface OpenedStream {
  /**
   * Replaces what the stream wants.
   * @throws GrpcError INVALID_ARGUMENT, OUT_OF_RANGE, INTERNAL with what the wire's other servers say.
   */
  request(request: SubscribeRequest | SubscribeDeshredRequest): Promise<void>;
  /** Harmless when it is over. */
  close(): void;
}

/** A hub: what one event goes into and many streams come out of. */
export interface StreamOpener {
  /** @throws GrpcError UNIMPLEMENTED for streams that it does not have. */
  open(rpc: StreamRpc, sink: GeyserSink): OpenedStream;
  /**
   * @param request - the encoded request message.
   * @returns the encoded answer.
   * @throws GrpcError; InvalidProtobuf where the request is no message.
   */
  unary(rpc: UnaryRpc, request: Uint8Array): Uint8Array;
}

/** Calls that end with one answer. Source: geyser.proto, `service Geyser`. */
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

/** Calls that stay open: of `geyser.Geyser` and, the last, of `shredstream.ShredstreamProxy`. */
export type StreamRpc = 'Subscribe' | 'SubscribeDeshred' | 'SubscribeEntries';

/** An open stream of one client: its requests go in, its messages go to the sink it was opened with. */
export interface GeyserStream {
  /** What it is told is worth most at once: nothing waits to leave together with what comes a moment later. */
  readonly isUrgent: boolean;
  /** How much of a request is read at most: what is more would be refused. */
  readonly bounds: RequestBounds;
  /**
   * A request, which replaces the one before. Pings are not its business. A stream of `SubscribeEntries` has none.
   * @throws GrpcError INVALID_ARGUMENT, OUT_OF_RANGE …, Failure: both end the stream.
   */
  request(request: SubscribeRequest | SubscribeDeshredRequest): Promise<void>;
  /** Counts messages and bytes that were handed to the socket; called in blocks, not per message. */
  recordSent(messages: number, bytes: number): void;
  /**
   * Counts messages that came from the client.
   * @param bytes - that came, and that messages have more than came, unpacked.
   * @returns milliseconds for which nothing more should be read; Infinity when the stream should end.
   */
  recordReceived(messages: number, bytes: number): number;
  /** The client is cut off because it reads too slowly. */
  recordLagged?(): void;
  /** Ends it, and gives its place back. Harmless when it is over. */
  close(): void;
}

/** What stands behind a server of gRPC streams. */
export interface GeyserHandler {
  /**
   * Opens a stream: checks the key, takes one of its places.
   * @param onEnd - called at most once, when the key no longer holds.
   * @throws Failure TOO_MANY_WRONG_KEYS, MISSING_KEY, INVALID_KEY, UNAUTHORIZED_PRODUCT, KEYS_UNAVAILABLE,
   * NETWORK_FORBIDDEN, ADDRESS_FORBIDDEN, ORIGIN_FORBIDDEN, METHOD_FORBIDDEN, QUOTA_EXCEEDED, RATE_LIMITED,
   * CONNECTION_LIMIT.
   */
  open(caller: Caller, rpc: StreamRpc, sink: GeyserSink, onEnd: (failure: Failure) => void): GeyserStream;
  /**
   * Whether a call may be made, before its request is read.
   * @throws Failure as `open` but for limits, and NO_SHRED_STAGE.
   */
  admit(caller: Caller, rpc: UnaryRpc): void;
  /**
   * @param request - the encoded request message.
   * @returns the encoded answer.
   * @throws Failure as `open`; GrpcError with what the wire's other servers say; InvalidProtobuf.
   */
  unary(caller: Caller, rpc: UnaryRpc, request: Uint8Array): Promise<Uint8Array>;
}

/** A door that asks for no key and sets no limits of a plan, as that of a node. */
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

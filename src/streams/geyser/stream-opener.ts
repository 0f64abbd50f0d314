import type { SubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { StreamRpc, UnaryRpc } from './geyser-handler.ts';
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

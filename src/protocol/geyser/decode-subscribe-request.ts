import { ProtobufReader } from './protobuf.ts';
import type { MessageCodec } from './request/message-codec.ts';
import { type RequestBounds, RequestFaults, requestBounds } from './request/request-faults.ts';
import {
  type SubscribeDeshredRequest,
  type SubscribeRequest,
  subscribeDeshredRequest,
  subscribeRequest,
} from './subscribe-request.ts';

/** Ignores all other fields of a request that contains a ping, even if they are invalid. */
function decode<Request extends { ping?: number }>(
  codec: MessageCodec<Request>,
  bytes: Uint8Array,
  bounds: RequestBounds,
  faultPrefix: string,
): Request | Pick<Request, 'ping'> {
  const faults = new RequestFaults(bounds);
  const request = codec.read(new ProtobufReader(bytes, 0, bytes.length, faults), faults);
  if (request.ping !== undefined) return { ping: request.ping };
  faults.throwFirst(faultPrefix);
  return request;
}

/**
 * Decodes a `SubscribeRequest`. The result contains views into `bytes`.
 * @throws InvalidProtobuf; GrpcError INVALID_ARGUMENT for invalid filters; Failure FILTER_LIMIT if a bound is exceeded.
 */
export function decodeSubscribeRequest(
  bytes: Uint8Array,
  bounds: RequestBounds = requestBounds,
): SubscribeRequest {
  const request: SubscribeRequest = decode(subscribeRequest, bytes, bounds, 'failed to create filter');
  const { blocksMeta, entry } = request;
  return {
    ...request,
    ...(blocksMeta && { blocksMeta: [...new Set(blocksMeta)] }),
    ...(entry && { entry: [...new Set(entry)] }),
  };
}

/** Like `decodeSubscribeRequest`, for a `SubscribeDeshred` stream. */
export const decodeSubscribeDeshredRequest = (
  bytes: Uint8Array,
  bounds: RequestBounds = requestBounds,
): SubscribeDeshredRequest =>
  decode(subscribeDeshredRequest, bytes, bounds, 'failed to create deshred filter');

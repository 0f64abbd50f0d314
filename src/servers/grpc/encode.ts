import type { OutgoingHttpHeaders } from 'node:http2';
import { ACCEPTED_ENCODINGS } from '../../protocol/grpc/frames.ts';
import type { CallHead, Encoding } from './decode.ts';
import { type Ending, trailersOf } from './errors.ts';
import type { GrpcCompression } from './options.ts';

/** Headers ahead of messages. @param encoding - of the messages. */
export function responseHeaders(encoding: Encoding): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-accept-encoding': ACCEPTED_ENCODINGS,
  };
  if (encoding !== 'identity') headers['grpc-encoding'] = encoding;
  return headers;
}

/** Headers and trailers in one ("Trailers-Only"), without messages. */
export const refusalHeaders = (ending: Ending): OutgoingHttpHeaders => ({
  ...responseHeaders('identity'),
  ...trailersOf(ending),
});

/** Compression of the responses to a call. */
export function responseEncoding({ encoding, accepted }: CallHead, compression: GrpcCompression): Encoding {
  if (compression === 'never' || (compression === 'sender' && encoding === 'identity')) return 'identity';
  return accepted.includes(encoding) ? encoding : (accepted[0] ?? 'identity');
}

import type { OutgoingHttpHeaders } from 'node:http2';
import { writeJson } from '../../base/json.ts';
import { Failure, type FailureFacts } from '../../protocol/errors.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { ACCEPTED_ENCODINGS } from '../../protocol/grpc/frames.ts';
import { encodeStatusMessage, GrpcError, type GrpcStatus, numberOf } from '../../protocol/grpc/status.ts';
import type { CallHead, Encoding } from './decode.ts';
import type { GrpcCompression } from './options.ts';

export function responseHeaders(encoding: Encoding): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-accept-encoding': ACCEPTED_ENCODINGS,
  };
  if (encoding !== 'identity') headers['grpc-encoding'] = encoding;
  return headers;
}

/** Headers of a "Trailers-Only" response, which has no messages. */
export const trailersOnlyHeaders = (ending: Ending): OutgoingHttpHeaders => ({
  ...responseHeaders('identity'),
  ...trailersOf(ending),
});

export function responseEncoding({ encoding, accepted }: CallHead, compression: GrpcCompression): Encoding {
  if (compression === 'never' || (compression === 'sender' && encoding === 'identity')) return 'identity';
  return accepted.includes(encoding) ? encoding : (accepted[0] ?? 'identity');
}

export type Ending = Readonly<{
  code: number;
  message: string;
  /** The failure code, its facts and retry-after. */
  metadata: Readonly<Record<string, string>>;
}>;

/** Keeps the trailers within clients' header limits. */
const MESSAGE_MAX_CHARS = 1_000;

export const okay: Ending = { code: 0, message: '', metadata: {} };

export const endingOfStatus = ({ code, message }: GrpcStatus): Ending => ({
  code: numberOf(code),
  message,
  metadata: {},
});

export function endingOfFailure(failure: Failure): Ending {
  const { code, row, facts, grpcText, retryAfter } = failure;
  const metadata: Record<string, string> = { 'x-error-code': code, ...factsMetadata(facts) };
  if (retryAfter !== undefined) metadata['retry-after'] = String(Math.ceil(retryAfter));
  return { code: row.grpc, message: grpcText, metadata };
}

/** Returns null for an exception whose message clients must not see. */
export function endingOf(thrown: unknown): Ending | null {
  if (thrown instanceof Failure) return endingOfFailure(thrown);
  if (thrown instanceof GrpcError)
    return { ...endingOfStatus(thrown), metadata: factsMetadata(thrown.facts) };
  // The text that tonic sends.
  if (thrown instanceof InvalidProtobuf)
    return endingOfStatus({ code: 'INTERNAL', message: 'failed to decode Protobuf message' });
  return null;
}

/** Source: grpc, doc/PROTOCOL-HTTP2.md. */
export function trailersOf({ code, message, metadata }: Ending): Record<string, string> {
  const trailers: Record<string, string> = { 'grpc-status': String(code), ...metadata };
  if (message !== '') trailers['grpc-message'] = encodeStatusMessage(message.slice(0, MESSAGE_MAX_CHARS));
  return trailers;
}

const factsMetadata = (facts: FailureFacts | undefined): Record<string, string> =>
  facts === undefined ? {} : { 'x-error-facts': asciiJson(facts) };

const asciiJson = (facts: FailureFacts): string =>
  writeJson(facts).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

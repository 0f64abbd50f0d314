import { writeJson } from '../../base/json.ts';
import { Failure, type FailureFacts } from '../../protocol/errors.ts';
import { InvalidProtobuf } from '../../protocol/geyser/protobuf.ts';
import { encodeStatusMessage, GrpcError, type GrpcStatus, numberOf } from '../../protocol/grpc/status.ts';

/** What the trailers of a call say. */
export type Ending = Readonly<{
  /** Number of the status. */
  code: number;
  /** '' for none. */
  message: string;
  /** Beside them: the code of our table, its facts, when to try again. */
  metadata: Readonly<Record<string, string>>;
}>;

/** More of a text is not sent: trailers have to fit what a client takes of headers. */
const MESSAGE_MAX_CHARS = 1_000;

export const okay: Ending = { code: 0, message: '', metadata: {} };

/** The ending with a status of gRPC's own. */
export const endingOfStatus = ({ code, message }: GrpcStatus): Ending => ({
  code: numberOf(code),
  message,
  metadata: {},
});

/** The ending with a row of the table: its gRPC code, and the rest as metadata. */
export function endingOfFailure(failure: Failure): Ending {
  const { code, row, facts, grpcText, retryAfter } = failure;
  const metadata: Record<string, string> = { 'x-error-code': code, ...factsMetadata(facts) };
  if (retryAfter !== undefined) metadata['retry-after'] = String(Math.ceil(retryAfter));
  return { code: row.grpc, message: grpcText, metadata };
}

/** The ending that something thrown stands for; null when it is none of those that clients may read. */
export function endingOf(thrown: unknown): Ending | null {
  if (thrown instanceof Failure) return endingOfFailure(thrown);
  if (thrown instanceof GrpcError)
    return { ...endingOfStatus(thrown), metadata: factsMetadata(thrown.facts) };
  // As tonic, which says more about it.
  if (thrown instanceof InvalidProtobuf)
    return endingOfStatus({ code: 'INTERNAL', message: 'failed to decode Protobuf message' });
  return null;
}

/** Trailers, or what stands for them among headers. Source: grpc, doc/PROTOCOL-HTTP2.md. */
export function trailersOf({ code, message, metadata }: Ending): Record<string, string> {
  const trailers: Record<string, string> = { 'grpc-status': String(code), ...metadata };
  if (message !== '') trailers['grpc-message'] = encodeStatusMessage(message.slice(0, MESSAGE_MAX_CHARS));
  return trailers;
}

const factsMetadata = (facts: FailureFacts | undefined): Record<string, string> =>
  facts === undefined ? {} : { 'x-error-facts': asciiJson(facts) };

/** JSON as a header can hold it. */
const asciiJson = (facts: FailureFacts): string =>
  writeJson(facts).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

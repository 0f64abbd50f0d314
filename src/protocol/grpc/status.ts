import type { FailureFacts } from '../errors.ts';

/** Names by their numbers. Source: grpc/grpc, doc/statuscodes.md. */
const names = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;
export type GrpcCode = (typeof names)[number];

/** How a stream ended. */
export type GrpcStatus = Readonly<{
  code: GrpcCode;
  /** The server's words, which may hold anything; '' for none. */
  message: string;
}>;

type Headers = Readonly<Record<string, string | string[] | number | undefined>>;

/** Percent-decoding that never fails: what cannot be decoded stays as it is. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The code that stands for an HTTP status without one. Source: grpc/grpc, doc/http-grpc-status-mapping.md. */
const httpCodes: Readonly<Record<number, GrpcCode>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

/** What trailers say, or headers that are all there is; null when they do not. */
export function statusOf(headers: Headers): GrpcStatus | null {
  const number = headers['grpc-status'];
  if (typeof number !== 'string') return null;
  const message = headers['grpc-message'];
  return {
    code: names[Number(number)] ?? 'UNKNOWN',
    message: typeof message === 'string' ? decodeMessage(message) : '',
  };
}

/** What an HTTP status says where gRPC's own is missing. */
export const statusOfHttp = (status: number): GrpcStatus => ({
  code: httpCodes[status] ?? 'UNKNOWN',
  message: `HTTP ${status}`,
});

/** The number of a code, as it stands in `grpc-status`. */
export const numberOf = (code: GrpcCode): number => names.indexOf(code);

/**
 * Text for `grpc-message`: only what must not stand there is encoded, since some clients leave the rest of it encoded.
 * Source: grpc/grpc, doc/PROTOCOL-HTTP2.md, "Percent-Encoded".
 */
export const encodeStatusMessage = (text: string): string =>
  text.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent);

/**
 * Ends a call with a status of gRPC's own, whose text is public: what the wire's other servers would say, such as
 * "failed to create filter: …". Whatever is ours (keys, limits, capacity) is a Failure.
 */
export class GrpcError extends Error {
  readonly code: GrpcCode;
  readonly facts: FailureFacts | undefined;

  /** @param facts - go out beside the text, such as the filter that it speaks of: public as well. */
  constructor(code: GrpcCode, message: string, facts?: FailureFacts) {
    super(message);
    this.name = 'GrpcError';
    this.code = code;
    this.facts = facts;
  }
}

import type { FailureFacts } from '../errors.ts';

/** Indexed by status code. Source: grpc/grpc, doc/statuscodes.md. */
export const grpcCodes = [
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
export type GrpcCode = (typeof grpcCodes)[number];

export type GrpcStatus = Readonly<{
  code: GrpcCode;
  /** Untrusted text from the server. */
  message: string;
}>;

type Headers = Readonly<Record<string, string | string[] | number | undefined>>;

function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Source: grpc/grpc, doc/http-grpc-status-mapping.md. */
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

/** @returns null if `grpc-status` is missing. */
export function statusOf(headers: Headers): GrpcStatus | null {
  const number = headers['grpc-status'];
  if (typeof number !== 'string') return null;
  const message = headers['grpc-message'];
  return {
    code: grpcCodes[Number(number)] ?? 'UNKNOWN',
    message: typeof message === 'string' ? decodeMessage(message) : '',
  };
}

/** Status of a response without `grpc-status`. */
export const statusOfHttp = (status: number): GrpcStatus => ({
  code: httpCodes[status] ?? 'UNKNOWN',
  message: `HTTP ${status}`,
});

export const numberOf = (code: GrpcCode): number => grpcCodes.indexOf(code);

/** Encodes as few characters as possible: some clients do not decode them. Source: grpc, doc/PROTOCOL-HTTP2.md. */
export const encodeStatusMessage = (text: string): string =>
  text.toWellFormed().replace(/[^ -$&-~]+/g, encodeURIComponent);

/** Public error with a Yellowstone text ("failed to create filter: …"). Key, limit and capacity errors are Failures. */
export class GrpcError extends Error {
  readonly code: GrpcCode;
  readonly facts: FailureFacts | undefined;

  constructor(code: GrpcCode, message: string, facts?: FailureFacts) {
    super(message);
    this.name = 'GrpcError';
    this.code = code;
    this.facts = facts;
  }
}

import type { IncomingHttpHeaders } from 'node:http2';
import { GrpcError } from '../../protocol/grpc/status.ts';
import { traceparentOf } from '../traceparent.ts';

export type Encoding = 'identity' | 'gzip' | 'zstd';

export type CallHead = Readonly<{
  /** Such as `/geyser.Geyser/Subscribe`. */
  path: string;
  /** API key as sent; null for none. Never logged. */
  credential: string | null;
  traceparent: string | null;
  /** Compression of requests. */
  encoding: Encoding;
  /** Compressions that the client accepts, in its order. */
  accepted: readonly Encoding[];
  /** Deadline in ms from now; null for none. */
  timeoutMs: number | null;
}>;

const BEARER = /^bearer +([^\s]+) *$/i;
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
const CONTENT_TYPE = /^application\/grpc(\+proto)?\s*(;|$)/i;

const msOfUnit: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

const isEncoding = (text: string): text is Encoding =>
  text === 'identity' || text === 'gzip' || text === 'zstd';

export const isGrpc = (contentType: string | undefined): boolean => CONTENT_TYPE.test(contentType ?? '');

/**
 * Parses the headers of a call. Source: grpc, doc/PROTOCOL-HTTP2.md, "Requests".
 * @throws GrpcError UNIMPLEMENTED for an unknown compression, INTERNAL for a malformed timeout.
 */
export function decodeHead(headers: IncomingHttpHeaders): CallHead {
  const encoding = single(headers['grpc-encoding']) ?? 'identity';
  if (!isEncoding(encoding))
    throw new GrpcError('UNIMPLEMENTED', `Content is compressed with \`${encoding}\` which isn't supported`);
  return {
    path: headers[':path'] ?? '',
    credential: credentialOf(headers),
    traceparent: traceparentOf(headers),
    encoding,
    accepted: acceptedOf(single(headers['grpc-accept-encoding']) ?? ''),
    timeoutMs: timeoutOf(single(headers['grpc-timeout'])),
  };
}

const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

/** `x-token`, as Yellowstone clients send it, else `authorization: Bearer`. */
function credentialOf(headers: IncomingHttpHeaders): string | null {
  const token = single(headers['x-token']);
  if (token !== undefined && token !== '') return token;
  return BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
}

const acceptedOf = (text: string): readonly Encoding[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => isEncoding(name))
    .filter((name) => name !== 'identity');

function timeoutOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const parsed = TIMEOUT.exec(text);
  if (parsed === null) throw new GrpcError('INTERNAL', 'malformed grpc-timeout');
  return Number(parsed[1]) * (msOfUnit[parsed[2] as string] as number);
}

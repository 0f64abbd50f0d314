import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Failure } from '../../protocol/errors.ts';
import { endSingle, NULL_ID, pushFailure } from '../../protocol/response-envelope.ts';
import { securityHeaders } from '../../protocol/security-headers.ts';

/** Any origin may read every response, because requests are authorized by key, not by origin. */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After',
} as const;

export const preflightHeaders = (methods: string, headers: string): OutgoingHttpHeaders => ({
  'access-control-allow-origin': '*',
  'access-control-allow-methods': methods,
  'access-control-allow-headers': headers,
  'access-control-max-age': '86400',
  'content-length': '0',
});

const LINGER_MS = 2_000;
const LINGER_MAX_BYTES = 32 * 1024 * 1024;

/** Bodies up to this size are left to node:http, which discards them and keeps the connection open. */
const SMALL_BODY_MAX_BYTES = 64 * 1024;

export function rejectionBody(failure: Failure): Buffer {
  const pieces: Buffer[] = [];
  pushFailure(pieces, failure, NULL_ID);
  return Buffer.concat(endSingle(pieces));
}

export type RejectionBody = (failure: Failure) => Buffer;

export type RejectionBodies = ReadonlyMap<string, RejectionBody>;

export function rejectionBodyOf(rejectionBodies: RejectionBodies, path: string | null): RejectionBody {
  for (const [prefix, body] of rejectionBodies) if (path?.startsWith(prefix)) return body;
  return rejectionBody;
}

export function rejectionHeaders(failure: Failure, body: Buffer): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    ...corsHeaders,
    ...securityHeaders.error,
  };
  if (failure.retryAfter !== undefined) headers['retry-after'] = String(failure.retryAfter);
  return headers;
}

/**
 * Rejects a request whose body may be incomplete. If the body is incomplete and not small, the connection closes, but
 * only after the client has had time to read the response: closing a socket with unread input resets it, and a reset
 * discards the response.
 */
export function rejectRequest(
  response: ServerResponse,
  failure: Failure,
  extra: OutgoingHttpHeaders = {},
  bodyOf: RejectionBody = rejectionBody,
): void {
  const body = bodyOf(failure);
  const headers = { ...rejectionHeaders(failure, body), ...extra };
  if (response.req.complete || hasSmallBody(response.req)) {
    response.writeHead(failure.row.http, headers);
    response.end(body);
    return;
  }
  response.writeHead(failure.row.http, { ...headers, connection: 'close' });
  response.write(body);
  linger(response);
}

/** Whether the body is small and the client does not wait for 100 Continue before it sends the body. */
function hasSmallBody({ headers }: IncomingMessage): boolean {
  const bytes = Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] !== undefined || bytes > SMALL_BODY_MAX_BYTES) return false;
  return bytes === 0 || headers.expect === undefined;
}

function linger(response: ServerResponse): void {
  const { req: request } = response;
  let bytes = 0;
  const timer = setTimeout(() => response.end(), LINGER_MS);
  const finish = (): void => {
    clearTimeout(timer);
    response.end();
  };
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_MAX_BYTES) finish();
  });
  request.once('end', finish);
  request.once('close', finish);
  request.resume();
}

/** Sends a rejection on the bare socket, then closes it. Used for malformed HTTP, timeouts and rejected upgrades. */
export function rejectSocket(
  socket: Socket,
  failure: Failure,
  extra: Record<string, string> = {},
  bodyOf: RejectionBody = rejectionBody,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = bodyOf(failure);
  const headers = { ...rejectionHeaders(failure, body), ...extra, connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const status = `HTTP/1.1 ${failure.row.http} ${STATUS_CODES[failure.row.http] ?? 'Error'}`;
  socket.write([status, ...lines, '', ''].join('\r\n'));
  socket.end(body);
  socket.destroySoon();
}

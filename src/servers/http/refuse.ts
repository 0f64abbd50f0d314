import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Failure } from '../../protocol/errors.ts';
import { endSingle, NULL_ID, pushFailure } from '../../protocol/response-envelope.ts';
import { securityHeaders } from '../../protocol/security-headers.ts';
import { corsHeaders } from './cors.ts';

/** How long, and for how many bytes, a refused request may go on sending what nobody reads. */
const LINGER_MS = 2_000;
const LINGER_MAX_BYTES = 32 * 1024 * 1024;

/** A body up to this size is thrown away by node:http behind the answer, and the connection is kept. */
const SMALL_BODY_MAX_BYTES = 64 * 1024;

/** The body of a failure that concerns the HTTP request as a whole: a JSON-RPC error under the id null. */
export function refusalBody(failure: Failure): Buffer {
  const pieces: Buffer[] = [];
  pushFailure(pieces, failure, NULL_ID);
  return Buffer.concat(endSingle(pieces));
}

/** How a dialect says what went wrong. */
export type RefusalBody = (failure: Failure) => Buffer;

/** How paths that begin so are refused, where JSON-RPC's words are not understood. */
export type Refusals = ReadonlyMap<string, RefusalBody>;

/** The words of the dialect that a path belongs to; JSON-RPC's where it is not known or nothing else is said. */
export function refusalOf(refusals: Refusals, path: string | null): RefusalBody {
  for (const [prefix, body] of refusals) if (path?.startsWith(prefix)) return body;
  return refusalBody;
}

/** The headers a refusal has on every path, so that a browser's script may read why. */
export function refusalHeaders(failure: Failure, body: Buffer): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(body.length),
    ...corsHeaders,
    ...securityHeaders.refusal,
  };
  if (failure.retryAfter !== undefined) headers['retry-after'] = String(failure.retryAfter);
  return headers;
}

/**
 * Answers a request whose body was not read, or not to its end. When more of it is to come the connection is
 * given up, but not before the client had a chance to read the answer: a socket that is closed while bytes
 * arrive is reset, and a reset throws away what the client has not read yet.
 * @param bodyOf - the dialect's words; JSON-RPC's where nothing is said.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  failure: Failure,
  extra: OutgoingHttpHeaders = {},
  bodyOf: RefusalBody = refusalBody,
): void {
  const body = bodyOf(failure);
  const headers = { ...refusalHeaders(failure, body), ...extra };
  if (request.complete || hasSmallBody(request)) {
    response.writeHead(failure.row.http, headers);
    response.end(body);
    return;
  }
  response.writeHead(failure.row.http, { ...headers, connection: 'close' });
  response.write(body);
  linger(request, response);
}

/** Whether what is still to come is little, and comes without being asked for. */
function hasSmallBody({ headers }: IncomingMessage): boolean {
  const bytes = Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] !== undefined || bytes > SMALL_BODY_MAX_BYTES) return false;
  return bytes === 0 || headers.expect === undefined;
}

/** Throws away what still arrives, within bounds, and ends the response then. */
function linger(request: IncomingMessage, response: ServerResponse): void {
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

/**
 * Answers on a bare socket and closes it: bytes that are not HTTP, headers without end, bodies that never come,
 * upgrades that are refused.
 * @param bodyOf - as for `refuse`.
 */
export function refuseSocket(
  socket: Socket,
  failure: Failure,
  extra: Record<string, string> = {},
  bodyOf: RefusalBody = refusalBody,
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = bodyOf(failure);
  const headers = { ...refusalHeaders(failure, body), ...extra, connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const status = `HTTP/1.1 ${failure.row.http} ${STATUS_CODES[failure.row.http] ?? 'Error'}`;
  socket.write([status, ...lines, '', ''].join('\r\n'));
  socket.end(body);
  socket.destroySoon();
}

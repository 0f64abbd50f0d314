import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { LimitStatus } from '../../protocol/request-handler.ts';
import { corsHeaders } from '../http/cors.ts';
import { rateLimitHeaderValues } from '../rate-limit-headers.ts';

/** Answers up to this size are copied into one buffer; larger ones are written piece by piece. */
export const JOIN_MAX_BYTES = 16 * 1024;

/** The answer to a browser's preflight: any page may call, since the key and not the origin says who may. */
export const preflightHeaders: OutgoingHttpHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, OPTIONS',
  'access-control-allow-headers': 'content-type, authorization, solana-client, x-solway-session',
  'access-control-max-age': '86400',
  'content-length': '0',
};

/** Names and values in turn: what node:http writes down with the least ado. */
export type HeaderList = string[];

/** Those of every answer. */
export const commonHeaders: readonly string[] = [
  ...['content-type', 'application/json; charset=utf-8'],
  ...Object.entries(corsHeaders).flat(),
];

/** The headers of a JSON-RPC answer but for its length. */
export function responseHeaders(limits: LimitStatus, retryAfter: number | undefined): HeaderList {
  const headers = [...commonHeaders];
  const fields = rateLimitHeaderValues('rpc', limits);
  if (fields !== null) headers.push('ratelimit-policy', fields[0], 'ratelimit', fields[1]);
  if (retryAfter !== undefined) headers.push('retry-after', String(retryAfter));
  return headers;
}

/** Those that show limits, for a refusal of the whole request. */
export function limitHeaders(limits: LimitStatus): OutgoingHttpHeaders {
  const fields = rateLimitHeaderValues('rpc', limits);
  return fields === null ? {} : { 'ratelimit-policy': fields[0], ratelimit: fields[1] };
}

/** Writes a body that is in pieces; an empty list is an empty body. */
export function send(response: ServerResponse, status: number, headers: HeaderList, pieces: Buffer[]): void {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  headers.push('content-length', String(bytes));
  response.writeHead(status, headers);
  if (bytes <= JOIN_MAX_BYTES) {
    // As text with one character per byte: node:http joins it with the head, a buffer it would write apart.
    response.end(Buffer.concat(pieces, bytes).toString('latin1', 0, bytes), 'latin1');
    return;
  }
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.end();
}

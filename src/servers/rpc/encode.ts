import type { ServerResponse } from 'node:http';
import type { LimitStatus } from '../../protocol/request-handler.ts';
import type { TrustedProxies } from '../client-address.ts';
import { type CompressedResponse, codingHeaders, type ResponseCompression } from '../compression.ts';
import { corsHeaders } from '../http/encode.ts';
import { pipeStream } from '../http/pipe-stream.ts';
import { rateLimitHeaderValues } from '../rate-limit-headers.ts';

/** Responses up to this size are joined into one buffer; larger responses are written piece by piece. */
export const JOIN_MAX_BYTES = 16 * 1024;

/** Alternating names and values, the cheapest form for node:http. */
export type HeaderList = string[];

export const commonHeaders: readonly string[] = [
  ...['content-type', 'application/json; charset=utf-8'],
  ...Object.entries(corsHeaders).flat(),
];

export function responseHeaders(limits: LimitStatus, retryAfter: number | undefined): HeaderList {
  const headers = [...commonHeaders];
  const fields = rateLimitHeaderValues('rpc', limits);
  if (fields !== null) headers.push('ratelimit-policy', fields[0], 'ratelimit', fields[1]);
  if (retryAfter !== undefined) headers.push('retry-after', String(retryAfter));
  return headers;
}

type CompressionContext = Readonly<{
  compression: ResponseCompression;
  options: Readonly<{ proxies: TrustedProxies }>;
}>;

export function send(
  response: ServerResponse,
  status: number,
  headers: HeaderList,
  pieces: Buffer[],
  { compression, options }: CompressionContext,
): void {
  const { socket, headers: requested } = response.req;
  const accepted = requested['accept-encoding']?.toString();
  const client = options.proxies.clientOf(socket, requested);
  const compressed = status === 200 ? compression.compress(accepted, client, pieces) : null;
  if (compressed !== null) {
    sendCompressed(response, headers, compressed);
    return;
  }
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  headers.push('content-length', String(bytes));
  response.writeHead(status, headers);
  if (bytes <= JOIN_MAX_BYTES) {
    // node:http writes latin1 text together with the head, but a buffer separately.
    response.end(Buffer.concat(pieces, bytes).toString('latin1', 0, bytes), 'latin1');
    return;
  }
  response.cork();
  for (const piece of pieces) response.write(piece);
  response.end();
}

export function sendCompressed(
  response: ServerResponse,
  headers: HeaderList,
  compressed: CompressedResponse,
): void {
  headers.push(...Object.entries(codingHeaders(compressed.coding)).flat());
  response.writeHead(200, headers);
  pipeStream(compressed, response);
}

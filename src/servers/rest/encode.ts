import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { type WritableJson, writeJson } from '../../base/json.ts';
import type { Failure } from '../../protocol/errors.ts';
import { InvalidFields } from '../../protocol/rest/invalid-fields.ts';
import { NodeRejection } from '../../protocol/rest/node-rejection.ts';
import type { RestOutcome, RestResponse, RestRoute } from '../../protocol/rest/route.ts';
import type { TrustedProxies } from '../client-address.ts';
import { codingHeaders, type ResponseCompression } from '../compression.ts';
import { pipeStream } from '../http/pipe-stream.ts';
import { rateLimitHeaders } from '../rate-limit-headers.ts';

const COMMON: OutgoingHttpHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After, X-Upstream-Calls',
};

/** Encoding yields to the event loop after this many characters. */
const CHUNK_CHARS = 256 * 1024;

async function* encodeChunks(items: readonly WritableJson[]): AsyncGenerator<Buffer<ArrayBuffer>, void> {
  let text = '';
  for (const [at, item] of items.entries()) {
    text += at === 0 ? writeJson(item) : `,${writeJson(item)}`;
    if (text.length < CHUNK_CHARS) continue;
    yield Buffer.from(text);
    text = '';
    await setImmediate();
  }
  yield Buffer.from(text);
}

export async function envelope({ message, result }: RestResponse): Promise<Buffer> {
  if (!Array.isArray(result)) return Buffer.from(writeJson({ success: true, message, result }));
  const pieces: Buffer[] = [Buffer.from(`{"success":true,"message":${writeJson(message)},"result":[`)];
  for await (const piece of encodeChunks(result)) pieces.push(piece);
  return Buffer.concat([...pieces, Buffer.from(']}')]);
}

export function responseHeaders(outcome: RestOutcome, route: Pick<RestRoute, 'group'>): OutgoingHttpHeaders {
  const retryAfter = outcome.failure?.retryAfter;
  return {
    ...COMMON,
    ...rateLimitHeaders(route.group, outcome),
    'x-upstream-calls': String(outcome.calls),
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  };
}

type CompressionContext = Readonly<{ compression: ResponseCompression; proxies: TrustedProxies }>;

export function send(
  response: ServerResponse,
  outcome: RestOutcome,
  route: Pick<RestRoute, 'group' | 'holdsSecrets'>,
  { compression, proxies }: CompressionContext,
): void {
  const body = outcome.body ?? errorBody(outcome.failure);
  const { socket, headers: requested } = response.req;
  const accepted = requested['accept-encoding']?.toString();
  // Compressed sizes could reveal secrets (the BREACH attack).
  const isCompressible = outcome.failure === null && route.holdsSecrets !== true;
  const compressed = isCompressible
    ? compression.compress(accepted, proxies.clientOf(socket, requested), [body])
    : null;
  if (compressed !== null) {
    response.writeHead(200, { ...responseHeaders(outcome, route), ...codingHeaders(compressed.coding) });
    pipeStream(compressed, response);
    return;
  }
  const headers = { ...responseHeaders(outcome, route), 'content-length': String(body.length) };
  response.writeHead(outcome.failure?.row.http ?? 200, headers);
  response.end(body);
}

/** For invalid fields, returns the first problem; for a transaction that a node rejected, the node's message. */
function messageOf(failure: Failure): string {
  if (failure instanceof InvalidFields) {
    const [first] = failure.problems;
    return first === undefined ? failure.restText : `${first.field} ${first.message}`;
  }
  return failure instanceof NodeRejection && failure.code === 'TRANSACTION_REFUSED'
    ? failure.error.message || failure.restText
    : failure.restText;
}

function detailsOf(failure: Failure): { readonly [name: string]: WritableJson } {
  if (failure instanceof InvalidFields) return { response: { errors: failure.problems } };
  return failure instanceof NodeRejection ? { rpc: failure.error } : {};
}

/** API clients turn the `error` object into an Error. Source: rest-api.md §1, "Errors". */
export function errorBody(failure: Failure): Buffer {
  const { code, facts, retryAfter } = failure;
  const detail = messageOf(failure);
  const message = failure instanceof InvalidFields ? failure.restText : detail;
  const error = { ...facts, code, message: detail, retryAfter, ...detailsOf(failure) };
  return Buffer.from(writeJson({ success: false, message, error }));
}

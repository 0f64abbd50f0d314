import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { type WritableJson, writeJson } from '../../base/json.ts';
import type { RestOutcome, RestResponse, RestRoute } from '../../protocol/rest/route.ts';
import { rateLimitHeaderValues } from '../rate-limit-headers.ts';
import { errorBody } from './errors.ts';

/**
 * The answer to a browser's preflight. `access-control-allow-origin` is there as a header of requests because the
 * interface's client sends it as one. Source: rest-api.md §1.
 */
export const preflightHeaders: OutgoingHttpHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'access-control-allow-origin, authorization, content-type, x-api-key',
  'access-control-max-age': '86400',
  'content-length': '0',
};

/** What a browser's script may read of an answer's head. */
const COMMON: OutgoingHttpHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'RateLimit, RateLimit-Policy, Retry-After, X-Upstream-Calls',
};

/** Characters of a list after which others have their turn: writing all of a long one would keep them waiting. */
const CHUNK_CHARS = 256 * 1024;

/** Items of a list with commas between them, in pieces. */
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

/** The envelope of what went well. */
export async function envelope({ message, result }: RestResponse): Promise<Buffer> {
  if (!Array.isArray(result)) return Buffer.from(writeJson({ success: true, message, result }));
  const pieces: Buffer[] = [Buffer.from(`{"success":true,"message":${writeJson(message)},"result":[`)];
  for await (const piece of encodeChunks(result)) pieces.push(piece);
  return Buffer.concat([...pieces, Buffer.from(']}')]);
}

/** The fields RateLimit and RateLimit-Policy (IETF draft ratelimit-headers-09), named after the endpoint group. */
function rateLimitHeaders(outcome: RestOutcome, { group }: Pick<RestRoute, 'group'>): OutgoingHttpHeaders {
  const fields = rateLimitHeaderValues(group, outcome);
  return fields === null ? {} : { 'ratelimit-policy': fields[0], ratelimit: fields[1] };
}

/** The head of an answer but for its length. */
export function responseHeaders(outcome: RestOutcome, route: Pick<RestRoute, 'group'>): OutgoingHttpHeaders {
  const retryAfter = outcome.failure?.retryAfter;
  return {
    ...COMMON,
    ...rateLimitHeaders(outcome, route),
    'x-upstream-calls': String(outcome.calls),
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
  };
}

/** Writes the answer to a request that was read to its end. */
export function send(response: ServerResponse, outcome: RestOutcome, route: Pick<RestRoute, 'group'>): void {
  const body = outcome.body ?? errorBody(outcome.failure);
  const headers = { ...responseHeaders(outcome, route), 'content-length': String(body.length) };
  response.writeHead(outcome.failure?.row.http ?? 200, headers);
  response.end(body);
}

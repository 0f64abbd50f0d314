import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { securityHeaders } from '../../protocol/security-headers.ts';

export const commonHeaders: OutgoingHttpHeaders = {
  ...securityHeaders.file,
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, ETag',
};

/** Content under a CID never changes. */
export const IMMUTABLE_CACHE = 'public, max-age=29536000, immutable';

/** Types that browsers may display. HTML and scripts are downloaded instead. */
const INLINE_TYPES = /^(image|audio|video|font|model)\/|^text\/plain\b|^application\/json\b/;

/** ASCII fallback of a file name. Source: RFC 6266 §4.3, appendix D. */
const asciiName = (name: string): string => name.replace(/[^\x20-\x7e]|["\\%]/g, '_');

/** Source: RFC 8187. */
const encodedName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

export function dispositionOf(type: string, name: string | null, cid: string): string {
  const disposition = INLINE_TYPES.test(type) ? 'inline' : 'attachment';
  const displayName = name ?? cid;
  return `${disposition}; filename="${asciiName(displayName)}"; filename*=UTF-8''${encodedName(displayName)}`;
}

export const contentTypeOf = (type: string): string =>
  type.startsWith('text/') && !type.includes('charset=') ? `${type}; charset=utf-8` : type;

export type ResponsePace = Readonly<{
  responseMaxMs: number;
  /** A client that reads less than `progressMinBytes` in this time is disconnected. Larger pieces get more time. */
  progressMs: number;
  progressMinBytes: number;
}>;

/** @throws Error if the client disconnects or is too slow, or whatever `pieces` throws. */
export async function sendPaced(
  pieces: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  { responseMaxMs, progressMs, progressMinBytes }: ResponsePace,
): Promise<void> {
  const slow = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const within = (ms: number): void => {
    timer = setTimeout(() => slow.abort(), ms);
  };
  const paced = async function* (): AsyncGenerator<Uint8Array, void> {
    for await (const piece of pieces) {
      within(progressMs * Math.max(1, piece.length / progressMinBytes));
      // Iteration resumes when the connection accepts more data.
      yield piece;
      clearTimeout(timer);
    }
    // Limit the time for data that is still buffered in this process.
    within(progressMs);
  };
  try {
    await pipeline(paced, response, {
      signal: AbortSignal.any([slow.signal, AbortSignal.timeout(responseMaxMs)]),
    });
  } finally {
    clearTimeout(timer);
  }
}

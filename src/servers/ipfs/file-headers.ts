import type { OutgoingHttpHeaders } from 'node:http';
import { securityHeaders } from '../../protocol/security-headers.ts';

export const commonHeaders: OutgoingHttpHeaders = {
  ...securityHeaders.file,
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'Accept-Ranges, Content-Length, Content-Range, ETag',
};

export const preflightHeaders: OutgoingHttpHeaders = {
  ...securityHeaders.file,
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': 'range, if-range, if-none-match',
  'access-control-max-age': '86400',
  'content-length': '0',
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

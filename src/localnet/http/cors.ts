import type { IncomingHttpHeaders } from 'node:http';

/**
 * What a request's origin leads to: refused, or these headers on the answer. Source: jsonrpc-server-utils 18
 * `cors.rs` with any origin allowed, as Agave configures it: the literal origin `null` is not "any", and a page
 * served by the host itself needs no headers.
 */
export type CorsDecision = 'refused' | Readonly<Record<string, string>>;

const MAX_AGE_SECONDS = 86_400;
export const ALLOWED_METHODS = 'OPTIONS, POST';

/** The host and port of an origin, or null when the text is none. */
const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null);

/** Decides on a request by its Origin, Host and Access-Control-Request-Headers. */
export function decideCors(headers: IncomingHttpHeaders): CorsDecision {
  const { origin, host } = headers;
  if (origin === undefined || (host !== undefined && hostOf(origin) === host)) return {};
  if (origin === 'null') return 'refused';
  const requested = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-origin': origin,
    'access-control-max-age': String(MAX_AGE_SECONDS),
    ...(requested === undefined ? {} : { 'access-control-allow-headers': requested }),
    vary: 'origin',
  };
}

import { isIP } from 'node:net';
import { ApiError } from '../api/api-error.ts';

/** A name and port under which a client may have reached us. */
const HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/;

/** The header that only a page of ours, or a program, can add to a request. */
export const CSRF_HEADER = 'x-solway';

/** Whether a page's origin is this service's own: the one configured, else that under which it was asked. */
function isSameOrigin(origin: string, request: Request, publicUrl: string | null): boolean {
  const parsed = URL.parse(origin);
  if (parsed === null || parsed.origin !== origin) return false;
  if (publicUrl !== null) return origin === new URL(publicUrl).origin;
  return parsed.host !== '' && parsed.host === request.headers.get('host');
}

/**
 * Refuses what another page makes a browser send with its user's cookie: a change needs our own header, which no other
 * origin can add without asking first, and an origin that is ours.
 * @throws ApiError 403
 */
export function checkSameOrigin(request: Request, publicUrl: string | null): void {
  const refuse = (reason: string): ApiError => new ApiError(403, 'FOREIGN_ORIGIN', reason);
  if (request.headers.get(CSRF_HEADER) !== '1')
    throw refuse(`changes need the header ${CSRF_HEADER}: 1, which only pages of this service send`);
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  const isAllowedOrigin = origin === null ? site === 'same-origin' : isSameOrigin(origin, request, publicUrl);
  if (isAllowedOrigin && (site === null || site === 'same-origin')) return;
  const remedy =
    publicUrl === null ? 'set accounts.public_url behind a proxy that changes the host' : `open ${publicUrl}`;
  throw refuse(`this was sent by a page of another origin: ${remedy}`);
}

/** Names that only the machine itself answers to, and addresses, which no name server can lead elsewhere. */
function isLocalOrIpAddress(host: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return name === 'localhost' || name.endsWith('.localhost') || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/**
 * Where the service is reached, without a path, for links: as configured, else as this request reached it by an address,
 * by a name of this machine or by that of `fallback`, else `fallback`. Whoever sends a request writes the header Host:
 * a link to any name in it could lead to somebody else's page.
 */
export function resolvePublicOrigin(host: string | null, publicUrl: string | null, fallback: string): string {
  if (publicUrl !== null) return new URL(publicUrl).origin;
  if (host === null || !HOST.test(host)) return fallback;
  const parsed = URL.parse(fallback);
  return isLocalOrIpAddress(host) || host === parsed?.host
    ? `${parsed?.protocol ?? 'http:'}//${host}`
    : fallback;
}

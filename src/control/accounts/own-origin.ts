import { ApiError } from '../api/api-error.ts';

/** A name and port under which a client may have reached us. */
const HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/;

/** The header that only a page of ours, or a program, can add to a request. */
export const OWN_HEADER = 'x-solway';

/** Whether a page's origin is this service's own: the one configured, else that under which it was asked. */
function isOwn(origin: string, request: Request, publicUrl: string | null): boolean {
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
export function checkOwnOrigin(request: Request, publicUrl: string | null): void {
  const refuse = (why: string): ApiError => new ApiError(403, 'FOREIGN_ORIGIN', why);
  if (request.headers.get(OWN_HEADER) !== '1')
    throw refuse(`changes need the header ${OWN_HEADER}: 1, which only pages of this service send`);
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  const isHere = origin === null ? site === 'same-origin' : isOwn(origin, request, publicUrl);
  if (isHere && (site === null || site === 'same-origin')) return;
  const remedy =
    publicUrl === null ? 'set accounts.public_url behind a proxy that changes the host' : `open ${publicUrl}`;
  throw refuse(`this was sent by a page of another origin: ${remedy}`);
}

/** Where the service is reached, without a path: as configured, else as this request reached it, else `fallback`. */
export function originOf(host: string | null, publicUrl: string | null, fallback: string): string {
  if (publicUrl !== null) return new URL(publicUrl).origin;
  return host !== null && HOST.test(host) ? `http://${host}` : fallback;
}

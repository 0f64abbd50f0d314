import { isIP } from 'node:net';
import { type ApiError, forbidden } from '../api/api-error.ts';

const HOST = /^[A-Za-z0-9.-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/;

/** Pages from other origins cannot send this header without a CORS preflight. */
export const CSRF_HEADER = 'x-solway';

function isSameOrigin(origin: string, request: Request, publicUrl: string | null): boolean {
  const parsed = URL.parse(origin);
  if (parsed === null || parsed.origin !== origin) return false;
  if (publicUrl !== null) return origin === new URL(publicUrl).origin;
  return parsed.host !== '' && parsed.host === request.headers.get('host');
}

/** Protects state-changing requests from CSRF. @throws ApiError 403 for a cross-origin request */
export function checkSameOrigin(request: Request, publicUrl: string | null): void {
  const foreignOrigin = (reason: string): ApiError => forbidden('FOREIGN_ORIGIN', reason);
  if (request.headers.get(CSRF_HEADER) !== '1')
    throw foreignOrigin(
      `State-changing requests need the header ${CSRF_HEADER}: 1, which only pages of this service send`,
    );
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  const isAllowedOrigin = origin === null ? site === 'same-origin' : isSameOrigin(origin, request, publicUrl);
  if (isAllowedOrigin && (site === null || site === 'same-origin')) return;
  const remedy =
    publicUrl === null
      ? 'Set accounts.public_url behind a proxy that changes the host.'
      : `open ${publicUrl}`;
  throw foreignOrigin(`This request was sent by a page of another origin. ${remedy}`);
}

/** True for local names and IP addresses, which DNS cannot point elsewhere. */
function isLocalOrIpAddress(host: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return name === 'localhost' || name.endsWith('.localhost') || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/** Returns the origin for links. Trusting any Host header would allow links to an attacker's page. */
export function resolvePublicOrigin(host: string | null, publicUrl: string | null, fallback: string): string {
  if (publicUrl !== null) return new URL(publicUrl).origin;
  if (host === null || !HOST.test(host)) return fallback;
  const parsed = URL.parse(fallback);
  return isLocalOrIpAddress(host) || host === parsed?.host
    ? `${parsed?.protocol ?? 'http:'}//${host}`
    : fallback;
}

import { CSRF_HEADER, checkSameOrigin, resolvePublicOrigin } from '../../src/control/accounts/same-origin.ts';
import { ApiError } from '../../src/control/api/api-error.ts';
import { accepted } from './engine/accepted.ts';

export const from = 'browsers';
export const covers = ['control/accounts/same-origin.ts'];

const PUBLIC = 'https://solway.example';
const FALLBACK = 'http://gateway.example:8899';

/** Host, origin and site, a line each. */
export const seeds: readonly Uint8Array[] = [
  'solway.example\nhttps://solway.example\nsame-origin',
  '127.0.0.1:8899\nhttp://127.0.0.1:8899\nsame-origin',
  '[::1]:80\nhttp://[::1]\nsame-site',
  'a.localhost\nnull\n',
  'gateway.example:8899\nhttps://solway.example.evil.example\ncross-site',
].map((text) => Buffer.from(text));

function requestOf(host: string, origin: string, site: string): Request {
  const headers = new Headers({ [CSRF_HEADER]: '1' });
  for (const [name, value] of Object.entries({ host, origin, 'sec-fetch-site': site }))
    if (value !== '') headers.set(name, value);
  return new Request('http://x/', { headers });
}

/** Only an origin that is ours is let through, and a link never leads to a name that somebody else can have. */
export function fuzz(bytes: Uint8Array): boolean {
  const [host = '', origin = '', site = ''] = Buffer.from(bytes).toString('latin1').split('\n');
  let request: Request;
  try {
    request = requestOf(host, origin, site);
  } catch {
    // No header can hold it.
    return false;
  }
  const link = new URL(resolvePublicOrigin(request.headers.get('host'), null, FALLBACK));
  const isOurs = link.origin === FALLBACK || /^(?:.*\.)?localhost$|^[\d.]+$|^\[/.test(link.hostname);
  if (!isOurs) throw new Error(`a link to ${link.host}`);
  const reported = request.headers.get('origin');
  const isLetIn = accepted(() => checkSameOrigin(request, PUBLIC), ApiError);
  if (isLetIn && reported !== null && reported !== PUBLIC) throw new Error('another origin was let in');
  const isLetInHere = accepted(() => checkSameOrigin(request, null), ApiError);
  if (isLetInHere && reported !== null && URL.parse(reported)?.host !== request.headers.get('host'))
    throw new Error('the page of another host was let in');
  return isLetIn || isLetInHere;
}

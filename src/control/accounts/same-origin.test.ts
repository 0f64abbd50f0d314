import { expect, it } from 'vitest';
import { checkSameOrigin, resolvePublicOrigin } from './same-origin.ts';

const LISTENING = 'http://127.0.0.1:8080';

it.each([
  ['localhost:8080', 'http://localhost:8080'],
  ['solway.localhost', 'http://solway.localhost'],
  ['[2001:db8::1]:8080', 'http://[2001:db8::1]:8080'],
  ['evil.example', LISTENING],
  ['localhost.evil.example', LISTENING],
  ['evil.example@localhost', LISTENING],
  [null, LISTENING],
])('builds links for Host %s with %s', (host, origin) => {
  expect(resolvePublicOrigin(host, null, LISTENING)).toBe(origin);
});

it('builds links with the configured origin, regardless of the request', () => {
  expect(resolvePublicOrigin('localhost', 'https://solway.example/', LISTENING)).toBe(
    'https://solway.example',
  );
  expect(resolvePublicOrigin('solway.example', null, 'http://solway.example')).toBe('http://solway.example');
});

const HOST = 'solway.test';
const OURS = `http://${HOST}`;

type Sent = Readonly<{ own?: string | null; origin?: string; site?: string }>;

function check({ own = '1', origin, site }: Sent, publicUrl: string | null = null): void {
  const headers = new Headers({ host: HOST });
  if (own !== null) headers.set('x-solway', own);
  if (origin !== undefined) headers.set('origin', origin);
  if (site !== undefined) headers.set('sec-fetch-site', site);
  checkSameOrigin(new Request(OURS, { method: 'POST', headers }), publicUrl);
}

it.each<[string, Sent]>([
  ['no custom header', { own: null, origin: OURS, site: 'same-origin' }],
  ['another origin', { origin: 'http://evil.example' }],
  ['the origin null', { origin: 'null' }],
  ['its own origin with a path', { origin: `${OURS}/` }],
  ['its own origin from another site', { origin: OURS, site: 'cross-site' }],
  ['no origin from another site', { site: 'cross-site' }],
  ['neither an origin nor a site', {}],
])('rejects a change with %s', (_, sent) => {
  expect(() => check(sent)).toThrow();
});

it('accepts a change from its own page, at the configured or the requested origin', () => {
  check({ origin: OURS });
  check({ origin: OURS, site: 'same-origin' });
  check({ site: 'same-origin' });
  // A TLS-terminating proxy in front.
  check({ origin: `https://${HOST}`, site: 'same-origin' });
  check({ origin: 'https://solway.example', site: 'same-origin' }, 'https://solway.example/');
  expect(() => check({ origin: OURS, site: 'same-origin' }, 'https://solway.example/')).toThrow();
});

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/service/program.ts';
import { createLogger } from '../../base/log.ts';
import { joinRoutes } from '../http/routes.ts';
import { HttpServer } from '../http/server.ts';
import { dashboardPaths, dashboardRoutes } from './routes.ts';

const PAGE = '<!doctype html><title>Solway</title>';
const SCRIPT = `console.log(${JSON.stringify('a'.repeat(500))});`;

const folder = temporaryFolder('dashboard');
const http = new HttpServer(
  joinRoutes(dashboardRoutes(folder), new Map([['/v1/rpc', new Map([['POST', () => {}]])]])),
  createLogger('silent', () => {}),
);
let url = '';

beforeAll(async () => {
  const { port } = await http.listen();
  url = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await http.drain(1_000);
});

function build(): void {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'assets', 'main-AbCd12_-.js'), SCRIPT);
  writeFileSync(join(folder, 'assets', 'main-AbCd12_-.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'main-AbCd12_-.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'theme.js'), '// theme');
  writeFileSync(join(folder, 'assets', 'main-AbCd12_-.js.map'), '{}');
  mkdirSync(join(folder, 'docs', 'reference'), { recursive: true });
  writeFileSync(join(folder, 'docs', 'index.html'), 'index');
  writeFileSync(join(folder, 'docs', 'reference', 'keys.html'), 'keys');
  writeFileSync(join(folder, 'docs', 'search.json'), '[]');
  writeFileSync(join(folder, 'dashboard.html'), PAGE);
}

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(url + path, { method, headers: { 'accept-encoding': 'identity', ...headers } });

describe('the dashboard', () => {
  it('returns 503 with build instructions until it is built', async () => {
    const before = await get('/');
    expect(before.status).toBe(503);
    expect(before.headers.get('cache-control')).toBe('no-store');
    expect(await before.text()).toContain('npm run build:web');
    build();
    const after = await get('/');
    expect(after.status).toBe(200);
    expect(await after.text()).toBe(PAGE);
  });

  it('serves the page at all of its paths and no others', async () => {
    for (const path of dashboardPaths) {
      const response = await get(path.replace('*', 'AbCdEfGh'));
      expect([path, response.status, await response.text()]).toEqual([path, 200, PAGE]);
    }
    for (const path of ['/nowhere', '/keys/a/b', '/assets/nothing.js', '/assets/main-AbCd12_-.js.map']) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(response.headers.get('content-type')).toContain('application/json');
    }
  });

  it('serves the docs without file extensions, and the search index', async () => {
    const found: unknown[] = [];
    for (const path of ['/docs', '/docs/reference/keys', '/docs/search.json', '/docs/reference/keys.html']) {
      const response = await get(path);
      found.push([response.status, await response.text()]);
    }
    expect(found).toEqual([
      [200, 'index'],
      [200, 'keys'],
      [200, '[]'],
      [404, PAGE],
    ]);
    const slash = await get('/docs/');
    expect([slash.redirected, slash.url]).toEqual([true, `${url}/docs`]);
  });

  it('returns a 404 page to browsers and JSON to programs', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const page = await get('/nowhere', { accept });
    expect([page.status, await page.text()]).toEqual([404, PAGE]);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const [method, accepted] of [
      ['POST', accept],
      ['HEAD', accept],
      ['GET', '*/*'],
    ] as const) {
      const refused = await get('/nowhere', { accept: accepted }, method);
      expect([method, refused.status]).toEqual([method, 404]);
      expect(refused.headers.get('content-type')).toContain('application/json');
    }
    for (const path of ['/v1/nowhere', '/v1']) {
      const refused = await get(path, { accept });
      expect([path, refused.status]).toEqual([path, 404]);
      expect(refused.headers.get('content-type')).toContain('application/json');
    }
  });

  it('keeps usage links out of search engines, shared caches and referrers', async () => {
    const { headers } = await get('/usage-link');
    expect(headers.get('x-robots-tag')).toBe('noindex');
    expect(headers.get('cache-control')).toBe('private, no-cache');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect((await get('/')).headers.get('x-robots-tag')).toBeNull();
  });

  it('has the same paths as the routes of the web application', () => {
    const table = readFileSync(join(import.meta.dirname, '../../../web/src/routes.tsx'), 'utf8');
    const paths = [...table.matchAll(/^ +path: '(.+)',$/gm)].map(([, path]) => path?.replace(/\$\w+/, '*'));
    expect(paths.toSorted()).toEqual([...dashboardPaths].toSorted());
  });

  it('caches hashed files forever and revalidates others', async () => {
    const hashed = await get('/assets/main-AbCd12_-.js');
    expect(hashed.headers.get('cache-control')).toContain('immutable');
    for (const path of ['/', '/assets/theme.js'])
      expect((await get(path)).headers.get('cache-control')).toBe('no-cache');
  });

  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip;q=0.5, br;q=0', 'gzip'],
    ['identity', null],
    ['br;q=0.000', null],
  ])('answers accept-encoding %j with %j', async (accepted, encoding) => {
    const response = await get('/assets/main-AbCd12_-.js', { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('vary')).toBe('accept-encoding');
    expect(await response.text()).toBe(SCRIPT);
  });

  it('returns 304 for a matching ETag of the same encoding', async () => {
    const path = '/assets/main-AbCd12_-.js';
    const etag = (await get(path)).headers.get('etag') ?? '';
    const compressed = (await get(path, { 'accept-encoding': 'br' })).headers.get('etag') ?? '';
    expect(compressed).not.toBe(etag);
    const again = await get(path, { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await get(path, { 'if-none-match': compressed })).status).toBe(200);
  });

  it('answers HEAD without a body and refuses other verbs', async () => {
    const head = await get('/', {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(PAGE.length),
      '',
    ]);
    expect((await get('/', {}, 'POST')).status).toBe(405);
  });
});

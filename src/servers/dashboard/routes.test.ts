import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../base/log.ts';
import { joinRoutes } from '../http/routes.ts';
import { HttpServer } from '../http/server.ts';
import { dashboardPaths, dashboardRoutes } from './routes.ts';

const PAGE = '<!doctype html><title>Solway</title>';
const SCRIPT = `console.log(${JSON.stringify('a'.repeat(500))});`;

const folder = mkdtempSync(join(tmpdir(), 'solway-dashboard-'));
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
  rmSync(folder, { recursive: true });
});

function build(): void {
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'assets', 'main-AbCd12_-.js'), SCRIPT);
  writeFileSync(join(folder, 'assets', 'main-AbCd12_-.js.br'), brotliCompressSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'main-AbCd12_-.js.gz'), gzipSync(SCRIPT));
  writeFileSync(join(folder, 'assets', 'theme.js'), '// theme');
  writeFileSync(join(folder, 'assets', 'main-AbCd12_-.js.map'), '{}');
  writeFileSync(join(folder, 'dashboard.html'), PAGE);
}

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(url + path, { method, headers: { 'accept-encoding': 'identity', ...headers } });

describe('the dashboard', () => {
  it('says how it is built where it was not, and is there once it was', async () => {
    const before = await get('/');
    expect(before.status).toBe(503);
    expect(before.headers.get('cache-control')).toBe('no-store');
    expect(await before.text()).toContain('npm run build:web');
    build();
    const after = await get('/');
    expect(after.status).toBe(200);
    expect(await after.text()).toBe(PAGE);
  });

  it('answers every address of its pages with the page, and no other', async () => {
    for (const path of dashboardPaths) {
      const answer = await get(path.replace('*', 'AbCdEfGh'));
      expect([path, answer.status, await answer.text()]).toEqual([path, 200, PAGE]);
    }
    for (const path of ['/nowhere', '/keys/a/b', '/assets/nothing.js', '/assets/main-AbCd12_-.js.map']) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers.get('content-type')).toContain('application/json');
    }
  });

  it('shows a person that there is no such page, and refuses programs as before', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    for (const path of ['/nowhere', '/keys/a/b']) {
      const shown = await get(path, { accept });
      expect([path, shown.status, await shown.text()]).toEqual([path, 404, PAGE]);
      expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
      for (const [method, asks] of [
        ['POST', accept],
        ['HEAD', accept],
        ['GET', '*/*'],
      ] as const) {
        const refused = await get(path, { accept: asks }, method);
        expect([method, refused.status]).toEqual([method, 404]);
        expect(refused.headers.get('content-type')).toContain('application/json');
      }
    }
    for (const path of ['/v1/nowhere', '/v1']) {
      const refused = await get(path, { accept });
      expect([path, refused.status]).toEqual([path, 404]);
      expect(refused.headers.get('content-type')).toContain('application/json');
    }
  });

  it('knows the same pages as the dashboard itself', () => {
    const table = readFileSync(join(import.meta.dirname, '../../../web/src/routes.tsx'), 'utf8');
    const paths = [...table.matchAll(/^ +path: '(.+)',$/gm)].map(([, path]) => path?.replace(/\$\w+/, '*'));
    expect(paths.toSorted()).toEqual([...dashboardPaths].toSorted());
  });

  it('lets nothing run that is not its own, and nobody frame it', async () => {
    for (const path of ['/', '/keys', '/assets/theme.js']) {
      const { headers } = await get(path);
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("connect-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('has files with a hash kept for ever, and others asked for again', async () => {
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
  ])('sends to who takes %j what was compressed as %j', async (accepted, encoding) => {
    const answer = await get('/assets/main-AbCd12_-.js', { 'accept-encoding': accepted });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(answer.headers.get('vary')).toBe('accept-encoding');
    expect(await answer.text()).toBe(SCRIPT);
  });

  it('sends nothing again that the browser has, in the encoding that it has it in', async () => {
    const path = '/assets/main-AbCd12_-.js';
    const etag = (await get(path)).headers.get('etag') ?? '';
    const compressed = (await get(path, { 'accept-encoding': 'br' })).headers.get('etag') ?? '';
    expect(compressed).not.toBe(etag);
    const again = await get(path, { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await get(path, { 'if-none-match': compressed })).status).toBe(200);
  });

  it('answers HEAD with the head alone, and refuses other verbs', async () => {
    const head = await get('/', {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(PAGE.length),
      '',
    ]);
    expect((await get('/', {}, 'POST')).status).toBe(405);
  });
});

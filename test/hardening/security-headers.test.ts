import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROL_PREFIX, controlRejectionBody, controlRoutes } from '../../src/app/servers/open-control.ts';
import { createLogger } from '../../src/base/log.ts';
import { type ContractName, contract } from '../../src/control/api/contract/contract.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { securityHeaders } from '../../src/protocol/security-headers.ts';
import { noProxies } from '../../src/servers/client-address.ts';
import { dashboardRoutes } from '../../src/servers/dashboard/routes.ts';
import { type HttpRoutes, joinRoutes, NOT_FOUND_PAGE } from '../../src/servers/http/routes.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { ipfsRoutes, type ReadableFile } from '../../src/servers/ipfs/server.ts';
import { healthRoutes, metricsRoutes } from '../../src/servers/operator-routes.ts';
import { referenceRoutes } from '../../src/servers/reference/routes.ts';
import { openAccountsFixture } from '../control/accounts/accounts-fixture.ts';
import { temporaryFolder } from '../service/program.ts';

/** Requests every browser route with every method, and unknown routes. */
const folder = temporaryFolder('security-headers');
const CID = `b${'a'.repeat(58)}`;
const METRICS_TOKEN = 'metrics-token';
let store: Store;
let http: HttpServer;
let routes: HttpRoutes;
let url = '';

const file: ReadableFile = {
  ...{ name: 'a.txt', type: 'text/plain', bytes: 2 },
  async *read(from, to) {
    yield Buffer.from('ab').subarray(from, to);
  },
  close: async () => {},
};

beforeAll(async () => {
  const built = join(folder, 'web');
  mkdirSync(join(built, 'assets'), { recursive: true });
  writeFileSync(join(built, 'dashboard.html'), '<!doctype html><title>Solway</title>');
  writeFileSync(join(built, 'assets', 'theme.js'), '// theme');
  store = await openDatabase({ file: join(folder, 'solway.db') });
  const fixture = await openAccountsFixture(store);
  const facts = {
    store: 'up',
    upstreams: { total: 1, usable: 1 },
    draining: false,
    mode: 'production',
  } as const;
  routes = joinRoutes(
    dashboardRoutes(built),
    referenceRoutes({ info: { title: 'REST', version: '1' }, paths: {} }),
    ipfsRoutes({ open: async (cid) => (cid === CID ? file : null) }),
    controlRoutes(fixture.http, noProxies),
    healthRoutes(() => facts),
    metricsRoutes({ token: METRICS_TOKEN }, () => 'solway_build_info 1\n'),
  );
  const refusals = new Map([[CONTROL_PREFIX, controlRejectionBody]]);
  http = new HttpServer(
    routes,
    createLogger('silent', () => {}),
    {},
    [],
    refusals,
  );
  url = `http://127.0.0.1:${(await http.listen()).port}`;
});
afterAll(async () => {
  await http.drain(0);
  await store.close();
});

type Row = keyof typeof securityHeaders;

/** Expected headers by path prefix; other paths belong to the dashboard. */
const rows: readonly (readonly [string, Row])[] = [
  ['/api/', 'api'],
  ['/docs/rest-api', 'reference'],
  ['/openapi.json', 'reference'],
  ['/ipfs/', 'file'],
  ['/health', 'state'],
  ['/ready', 'state'],
  ['/metrics', 'state'],
  ['/', 'page'],
];

const rowOf = (path: string): Row => rows.find(([start]) => path.startsWith(start))?.[1] ?? 'page';

function pathsOf(pattern: string): string[] {
  if (pattern === '/ipfs/*') return [`/ipfs/${CID}`, '/ipfs/nothing', `/ipfs/${CID.toUpperCase()}`];
  if (pattern === '/assets/*') return ['/assets/theme.js', '/assets/nothing.js'];
  if (pattern.startsWith('/api/')) {
    const names = Object.keys(contract) as ContractName[];
    const paths = names.map((name) => `/api/v1${name.split(' ')[1]?.replaceAll(/\{\w+\}/g, 'house')}`);
    return [
      ...new Set([...paths, '/api/v1/openapi.json', '/api/auth/get-session', '/api/nothing', '/api/v1/%00']),
    ];
  }
  return pattern === NOT_FOUND_PAGE ? ['/nowhere'] : [pattern.replace('*', 'one')];
}

const missing = (headers: Headers, row: Row): string[] =>
  Object.entries(securityHeaders[row]).flatMap(([name, value]) =>
    headers.get(name) === value ? [] : [`${name}: ${headers.get(name)}`],
  );

/** Whether a response has the headers of its route, or was rejected before routing. */
const isGuarded = (headers: Headers, row: Row): boolean =>
  missing(headers, row).length === 0 || missing(headers, 'error').length === 0;

const verbs = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'];

describe('every route for browsers', () => {
  it('has its security headers on every response', async () => {
    const sendRequest = async (path: string, method: string, accept: string): Promise<unknown[]> => {
      const answer = await fetch(url + path, { method, headers: { accept }, redirect: 'manual' });
      await answer.body?.cancel();
      const lacks = missing(answer.headers, rowOf(path));
      const isRight = answer.status < 300 ? lacks.length === 0 : isGuarded(answer.headers, rowOf(path));
      return isRight ? [] : [[method, path, answer.status, ...lacks]];
    };
    const found: unknown[] = [];
    let answers = 0;
    for (const pattern of routes.keys()) {
      const accept = pattern === NOT_FOUND_PAGE ? 'text/html' : '*/*';
      for (const path of pathsOf(pattern)) {
        const pending = verbs.map((verb) => sendRequest(path, verb, accept));
        found.push(...(await Promise.all(pending)).flat());
        answers += pending.length;
      }
    }
    expect(found).toEqual([]);
    expect(answers).toBeGreaterThan(400);
  });

  it('forbids inline scripts, and framing except for files', () => {
    for (const [row, headers] of Object.entries(securityHeaders)) {
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
      if (row === 'api' || row === 'state') expect(headers).toMatchObject({ 'cache-control': 'no-store' });
      const policy = headers['content-security-policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/script-src[^;]*unsafe|unsafe-eval/);
      if (row === 'file') expect(policy).toMatch(/^sandbox;/);
      else expect(policy).toContain("frame-ancestors 'none'");
    }
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ContractName, contract, routeOf } from '../../src/control/api/contract/contract.ts';
import { complaint } from '../app/load-configuration.ts';
import { firstOperator, openAccountsFixture } from '../control/accounts/accounts-fixture.ts';
import { describeOnSqlite } from '../control/stores.ts';
import { startHttpServer, type TestHttpServer } from '../servers/start-http-server.ts';
import { call } from './raw-calls.ts';

/** Members that could pollute Object.prototype. */
const POLLUTION =
  '"__proto__":{"polluted":1,"isOperator":true},"constructor":{"prototype":{"polluted":1}},"hasOwnProperty":1,"toString":null';

const odd: readonly (readonly [string, string])[] = [
  ['members that every object has', `{${POLLUTION}}`],
  ['300,000 open lists', '['.repeat(300_000)],
  ['100,000 lists in one another', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['a number of 500,000 digits', '9'.repeat(500_000)],
  ['a number beyond all numbers', '1e999999'],
  ['half a character', '"\\ud800"'],
  ['a NUL', '"a\\u0000b"'],
  ['100,000 names', `{${Array.from({ length: 100_000 }, (_, at) => `"${at}":0`).join(',')}}`],
];

const natives = Object.getOwnPropertyNames(Object.prototype).sort();

afterEach(() => {
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(natives);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

const isFault = (line: string): boolean => /"level":(?:50|60)/.test(line);

describe.each([{ raw: true }, { raw: false }])('odd JSON, fast path: $raw', ({ raw }) => {
  let server: TestHttpServer;
  let key: string;
  beforeEach(async () => {
    server = await startHttpServer({ raw });
    key = server.createKey();
  });
  afterEach(async () => {
    await server.stop();
    expect(server.lines.filter(isFault)).toEqual([]);
  });

  const sendRequest = async (body: string) => {
    const response = await server.post(body, key);
    const answer = (await response.json()) as { error?: { code: number }; result?: unknown };
    return { status: response.status, code: answer.error?.code ?? null, answer };
  };

  it('is handled without an internal error as body, params, id or extra member of a call', async () => {
    for (const [name, json] of odd) {
      const bodies = [json, call('getSlot', `[${json}]`), call('getSlot', '[]', json), `[${json}]`];
      bodies.push(
        `{"jsonrpc":"2.0","id":1,"method":${json}}`,
        `{"jsonrpc":"2.0","id":1,"method":"getSlot",${POLLUTION}}`,
      );
      for (const body of bodies) {
        const { status, code } = await sendRequest(body);
        expect([name, status === 200 || status === 413, code === -32603]).toEqual([name, true, false]);
      }
    }
  });

  it('cannot pass a key in an unsupported place', async () => {
    const bare = { 'content-type': 'application/json' };
    const url = server.url;
    const places: readonly (readonly [string, Record<string, string>, string])[] = [
      [url, { ...bare, cookie: `api-key=${key}; authorization=Bearer ${key}` }, call('getSlot')],
      [url, { ...bare, 'proxy-authorization': `Bearer ${key}` }, call('getSlot')],
      [url, { ...bare, authorization: key }, call('getSlot')],
      [url, { ...bare, authorization: `Bearer ${key} ${key}` }, call('getSlot')],
      [url, { ...bare, authorization: `Basic ${btoa(`api-key:${key}`)}` }, call('getSlot')],
      [url, { ...bare, referer: `${url}?api-key=${key}` }, call('getSlot')],
      [`${url}?API-KEY=${key}`, bare, call('getSlot')],
      [`${url}?x=api-key=${key}`, bare, call('getSlot')],
      [`${url}?api%2dkeys=${key}`, bare, call('getSlot')],
      [url, bare, call('getSlot', `[{"api-key":"${key}"}]`)],
    ];
    for (const [target, headers, body] of places) {
      const { status } = await fetch(target, { method: 'POST', headers, body });
      expect([target.slice(url.length, url.length + 12), status]).toEqual([expect.any(String), 401]);
    }
    expect(server.lines.join('\n')).not.toContain(key.slice(-38));
  });
});

describeOnSqlite('odd JSON at the control API', ({ open }) => {
  it('makes no one an operator and changes nothing', async () => {
    const fixture = await openAccountsFixture(await open());
    const operator = await firstOperator(fixture);
    const names = (Object.keys(contract) as ContractName[]).filter(
      (name) => routeOf(name).body !== undefined,
    );
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) {
      const [verb = '', pattern = ''] = name.split(' ');
      const path = `/api/v1${pattern.replaceAll(/\{\w+\}/g, 'house')}`;
      for (const json of [
        `{${POLLUTION}}`,
        `[${'['.repeat(50_000)}`,
        '{"name":"\\ud800"}',
        '9'.repeat(100_000),
      ]) {
        const { status } = await operator.send(verb, path, { body: json });
        expect([name, status >= 400 && status < 500, status]).toEqual([name, true, status]);
      }
    }
    const stranger = fixture.browser();
    await stranger.send('POST', '/api/auth/sign-up/email', {
      body: `{"name":"x","email":"x@example.com","password":"correct horse battery",${POLLUTION}}`,
    });
    expect((await stranger.get('/api/v1/session')).text).not.toContain('"isOperator":true');
    expect(fixture.logged.filter(isFault)).toEqual([]);
  });
});

describe('a configuration', () => {
  it.each([
    ['["__proto__"]\npolluted = 1'],
    ['[server]\n__proto__ = { port = 1 }'],
    ['[[upstream]]\nurl = "https://a.example"\nheaders = { "a b" = "x", "__proto__" = "y" }'],
    ['[plans.default.prices]\n"__proto__ x" = 1'],
  ])('with names of Object.prototype members is rejected with a clear error: %s', (toml) => {
    expect(complaint(toml)).toMatch(/there is no such option|a plan name has|a name is not|invalid TOML/);
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { result, startHttpServer, type TestHttpServer } from './start-http-server.ts';

const call = (method: string, id: string | number = 1, params = '[]') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

// Clients must not be able to tell whether the fast path is enabled.
describe.each([{ raw: true }, { raw: false }])('with the fast path: $raw', ({ raw }) => {
  let server: TestHttpServer;

  beforeEach(async () => {
    server = await startHttpServer({ raw });
  });

  afterEach(() => server.stop());

  describe('a call over HTTP', () => {
    it('returns the upstream response under its own id', async () => {
      server.answer = async () => result('{"value":18446744073709551615, "z":1,"a":0.10}');
      const response = await server.post(call('getBalance', '9007199254740993'), server.createKey());
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(await response.text()).toBe(
        '{"jsonrpc":"2.0","result":{"value":18446744073709551615, "z":1,"a":0.10},"id":9007199254740993}\n',
      );
    });

    it('forwards its params unchanged', async () => {
      const params =
        '[ 18446744073709551615, {"b":1,"a":[1.50], "__proto__":{"x":1}, "constructor":"\\u0041"} ]';
      const response = await server.post(call('getBlock', '"a\\u0062"', params), server.createKey());
      expect(await response.text()).toBe(`{"jsonrpc":"2.0","result":{"params":${params}},"id":"a\\u0062"}\n`);
      expect(String(server.calls[0]?.call.params)).toBe(params);
    });

    it('returns the error of a node with HTTP 200', async () => {
      server.answer = async () => ({
        body: Buffer.from('{"code":-32005,"message":"Node is unhealthy"}'),
        errorCode: -32005,
      });
      const response = await server.post(call('getHealth'), server.createKey());
      expect([response.status, await response.json()]).toEqual([
        200,
        { jsonrpc: '2.0', error: { code: -32005, message: 'Node is unhealthy' }, id: 1 },
      ]);
    });

    it('is forwarded for any method name', async () => {
      const key = server.createKey();
      for (const method of ['getAsset', 'constructor', '__proto__', 'toString', '']) {
        expect((await server.post(call(method), key)).status).toBe(200);
      }
      expect(server.calls.map((one) => one.call.row.kind)).toEqual(Array(5).fill('unknown'));
    });

    it.each([
      ['a result', call('getSlot', '"an id"'), 'ü'],
      ['a result written in chunks', call('getSlot', '18446744073709551615'), 'x'.repeat(100_000)],
      ['an invalid call', '{"jsonrpc":"2.0","id":"é"}', ''],
      ['a call without a version', '{"id":12,"method":"getSlot"}', ''],
      ['invalid JSON', '{bad', ''],
      ['a notification', '{"jsonrpc":"2.0","method":"getSlot"}', ''],
    ])('is metered by its bytes in and out, without the line break: %s', async (_what, body, text) => {
      server.answer = async () => result(`"${text}"`);
      const sent = await (await server.post(body, server.createKey())).text();
      const bytesOut = Buffer.byteLength(sent.trimEnd());
      expect(server.usage.drain()).toMatchObject([{ bytesIn: Buffer.byteLength(body), bytesOut }]);
    });

    it('that fails upstream returns status and message of the failure, and hides the cause', async () => {
      server.answer = () =>
        Promise.reject(
          new Failure('UPSTREAM_UNAVAILABLE', { cause: new Error('https://node.example/?api-key=abc') }),
        );
      const response = await server.post(call('getSlot'), server.createKey());
      expect([response.status, await response.json()]).toEqual([
        503,
        {
          jsonrpc: '2.0',
          error: {
            code: -32050,
            message: 'The upstream service is temporarily unavailable',
            data: { code: 'UPSTREAM_UNAVAILABLE', retryAfter: 1 },
          },
          id: 1,
        },
      ]);
    });
  });

  describe('invalid JSON-RPC', () => {
    const failing: [string, string, unknown][] = [
      [
        'no JSON',
        '{"jsonrpc":',
        { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' }, id: null },
      ],
      [
        'no version',
        '{"id":5,"method":"getSlot"}',
        { error: { code: -32600, message: 'Unsupported JSON-RPC protocol version' }, id: 5 },
      ],
      [
        'named params',
        '{"jsonrpc":"2.0","id":5,"method":"getSlot","params":{}}',
        { jsonrpc: '2.0', error: { code: -32602, message: '`params` should be an array' }, id: 5 },
      ],
      [
        'a batch of 101 calls',
        `[${Array(101).fill(call('getSlot')).join()}]`,
        {
          jsonrpc: '2.0',
          error: expect.objectContaining({ data: { code: 'BATCH_TOO_LARGE', batchMax: 100 } }),
          id: null,
        },
      ],
    ];

    it.each(failing)('with %s gets its own error, and is not forwarded', async (_what, body, expected) => {
      const response = await server.post(body, server.createKey());
      expect([response.status, await response.json()]).toEqual([200, expected]);
      expect(server.calls).toEqual([]);
    });
  });

  describe('the API key', () => {
    const refused = async (response: Response) => {
      const { error, id } = (await response.json()) as { error: { data: { code: string } }; id: unknown };
      expect(id).toBeNull();
      expect(server.calls).toEqual([]);
      return [response.status, error.data.code];
    };

    it('is required, for this product', async () => {
      expect(await refused(await server.post(call('getSlot'), null))).toEqual([401, 'MISSING_KEY']);
      expect(await refused(await server.post(call('getSlot'), null, { authorization: 'Basic abc' }))).toEqual(
        [401, 'MISSING_KEY'],
      );
      expect(await refused(await server.post(call('getSlot'), server.createKey('grpc')))).toEqual([
        403,
        'UNAUTHORIZED_PRODUCT',
      ]);
    });

    it('is rejected if unknown, damaged or revoked, always with the same message', async () => {
      const key = server.createKey();
      const damaged = key.slice(0, -1) + (key.endsWith('1') ? '2' : '1');
      const revoked = server.createKey('rpc', undefined, { status: 'revoked' });
      const other = await startHttpServer({ raw });
      const unknown = other.createKey();
      await other.stop();
      server.secrets.push(unknown, damaged);
      const bodies = new Set<string>();
      for (const wrong of [damaged, revoked, unknown, 'nonsense']) {
        const response = await server.post(call('getSlot'), wrong);
        expect(response.status).toBe(403);
        bodies.add(await response.text());
      }
      expect([...bodies]).toEqual([
        '{"jsonrpc":"2.0","error":{"code":-32041,"message":"The API key is invalid, inactive or expired","data":{"code":"INVALID_KEY"}},"id":null}\n',
      ]);
    });

    it('is not called invalid if it cannot be checked', async () => {
      const key = server.createKey();
      const other = await startHttpServer({ raw });
      const unknown = other.createKey();
      await other.stop();
      server.keys.setStoreReachable(false);
      expect(await refused(await server.post(call('getSlot'), unknown))).toEqual([503, 'KEYS_UNAVAILABLE']);
      expect((await server.post(call('getSlot'), key)).status).toBe(200);
    });

    it('may be in the query or a header, with the scheme in any case; the header wins', async () => {
      const key = server.createKey();
      const send = (query: string, headers: Record<string, string> = {}) =>
        fetch(`${server.url}?${query}`, {
          method: 'POST',
          body: call('getSlot'),
          headers: { 'content-type': 'application/json', ...headers },
        }).then(({ status }) => status);
      expect(await send(`api-key=${key}`)).toBe(200);
      expect(await send(`x=1&api-key=${key}&y`)).toBe(200);
      expect(await send(`api-key=${key.replaceAll('_', '%5F')}`)).toBe(200);
      expect(await send('api-key=')).toBe(401);
      expect(await send('', { authorization: `bEaReR  ${key}` })).toBe(200);
      expect(await send('api-key=nonsense', { authorization: `Bearer ${key}` })).toBe(200);
      expect(await send(`api-key=${key}`, { authorization: 'Bearer nonsense' })).toBe(403);
      expect(await send(`api-key=${key}`, { authorization: 'Basic nonsense' })).toBe(200);
    });

    it('is never logged, not even after failures', async () => {
      const key = server.createKey();
      server.answer = () => Promise.reject(new Error(`with ${key} and ${server.url}?api-key=${key}`));
      expect((await server.post(call('getSlot'), key)).status).toBe(500);
      expect(server.lines).toHaveLength(1);
      expect(server.lines.join()).not.toContain(key.slice(13));
    });
  });

  describe('the rate limit', () => {
    it('is returned with every response, and rejects calls with retry-after', async () => {
      const key = server.createKey('rpc', { rpcPerSecond: 0.01, rpcBurst: 2 });
      const first = await server.post(call('getSlot'), key);
      expect(first.headers.get('ratelimit-policy')).toBe('"rpc";q=2;w=200');
      expect(first.headers.get('ratelimit')).toBe('"rpc";r=1;t=100');
      expect(first.headers.get('retry-after')).toBeNull();
      await server.post(call('getSlot'), key);
      const refused = await server.post(call('getSlot', '"x"'), key);
      expect(refused.status).toBe(429);
      expect(refused.headers.get('retry-after')).toBe('100');
      expect(refused.headers.get('ratelimit')).toBe('"rpc";r=0;t=100');
      expect(await refused.json()).toMatchObject({
        error: { code: -32043, data: { code: 'RATE_LIMITED', limit: 2, remaining: 0, retryAfter: 100 } },
        id: 'x',
      });
    });

    it('counts each call of a batch', async () => {
      const key = server.createKey('rpc', { rpcPerSecond: 0.01, rpcBurst: 2 });
      const response = await server.post(`[${[1, 2, 3].map((id) => call('getSlot', id)).join()}]`, key);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject([
        { id: 1, result: {} },
        { id: 2, result: {} },
        { id: 3, error: { data: { code: 'RATE_LIMITED' } } },
      ]);
      const refused = await server.post(`[${[1, 2].map((id) => call('getSlot', id)).join()}]`, key);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '100']);
    });
  });

  describe('a batch', () => {
    it('returns the responses in order, whatever the results of the other calls', async () => {
      server.answer = async ({ method }) => {
        if (method === 'getBlock') throw new Failure('UPSTREAM_TIMEOUT');
        return result(`"${method}"`);
      };
      const items = [
        call('getSlot', 1),
        '{"jsonrpc":"2.0","method":"n"}',
        call('getBlock', '"b"'),
        '{}',
        '{"id":4,"method":"x"}',
        call('getHealth', 'null'),
      ];
      const response = await server.post(`[${items.join()}]`, server.createKey());
      expect([response.status, await response.json()]).toEqual([
        200,
        [
          { jsonrpc: '2.0', result: 'getSlot', id: 1 },
          { jsonrpc: '2.0', error: expect.objectContaining({ code: -32051 }), id: 'b' },
          { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid request' }, id: null },
          { error: { code: -32600, message: 'Unsupported JSON-RPC protocol version' }, id: 4 },
          { jsonrpc: '2.0', result: 'getHealth', id: null },
        ],
      ]);
      expect(server.calls.map((one) => one.call.method)).toEqual(['getSlot', 'getBlock', 'getHealth']);
    });

    it('is metered by the bytes of its calls', async () => {
      const members = [
        call('a'),
        '{"jsonrpc":"2.0","method":"a"}',
        '{"jsonrpc":"2.0","id":"é"}',
        call('b', '"x"'),
      ];
      const sent = await (await server.post(`[${members}]`, server.createKey())).text();
      const bytesOut = server.usage.drain().reduce((sum, row) => sum + row.bytesOut, 0);
      expect(bytesOut).toBe(Buffer.byteLength(sent.trimEnd()) - '[,,]'.length);
    });

    it.each([
      ['[]'],
      ['{"jsonrpc":"2.0","method":"a"}'],
      ['[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]'],
    ])('or call without an id gets no response and is not executed: %s', async (body) => {
      const response = await server.post(body, server.createKey());
      expect([response.status, await response.text()]).toEqual([200, '']);
      expect(server.calls).toEqual([]);
    });

    it('returns HTTP 200 if only some calls failed, whichever came first', async () => {
      server.answer = async ({ method }) => {
        if (method === 'getBlock') throw new Failure('UPSTREAM_TIMEOUT');
        return result('1');
      };
      const statusOf = async (...methods: string[]) =>
        (await server.post(`[${methods.map((method) => call(method)).join()}]`, server.createKey())).status;
      expect(await statusOf('getBlock', 'getSlot')).toBe(200);
      expect(await statusOf('getSlot', 'getBlock')).toBe(200);
      expect(await statusOf('getBlock', 'getBlock')).toBe(504);
    });

    it('has a limited number of calls in flight', async () => {
      let under = 0;
      let most = 0;
      server.answer = async () => {
        most = Math.max(most, ++under);
        await new Promise(setImmediate);
        under -= 1;
        return result('1');
      };
      await server.post(`[${Array(50).fill(call('getSlot')).join()}]`, server.createKey());
      expect(most).toBe(8);
    });
  });

  describe('a page in a browser', () => {
    it('may send calls from any origin', async () => {
      const headers = {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,solana-client',
      };
      const preflight = await fetch(server.url, { method: 'OPTIONS', headers });
      expect(preflight.status).toBe(204);
      expect(Object.fromEntries(preflight.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'POST, OPTIONS',
        'access-control-allow-headers': 'content-type, authorization, solana-client, x-solway-session',
        'access-control-max-age': '86400',
      });
      const answer = await server.post(call('getSlot'), server.createKey(), {
        origin: 'https://app.example',
      });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toBe(
        'RateLimit, RateLimit-Policy, Retry-After',
      );
      for (const refused of [
        await server.post(call('getSlot'), null),
        await server.post('{', server.createKey()),
        await server.post(call('getSlot'), server.createKey(), { 'content-type': 'text/plain' }),
      ]) {
        expect(refused.headers.get('access-control-allow-origin')).toBe('*');
        expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After');
      }
    });
  });
});

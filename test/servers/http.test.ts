import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import {
  rawPost,
  result,
  startHttpServer,
  type TestHttpServer,
  type TestServerOptions,
} from './start-http-server.ts';

const call = (method: string, id: string | number = 1, params = '[]') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
const MEBIBYTE = 1024 * 1024;

const statusOf = (received: string): number => Number(received.slice(9, 12));
const dataOf = (received: string): unknown => JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4));

// Clients must not be able to tell whether the fast path is enabled.
describe.each([{ raw: true }, { raw: false }])('with the fast path: $raw', ({ raw }) => {
  let server: TestHttpServer;

  beforeEach(async () => {
    server = await startHttpServer({ raw });
  });

  afterEach(() => server.stop());

  async function restart(
    http: TestServerOptions,
    rpc?: Parameters<typeof startHttpServer>[1],
  ): Promise<void> {
    await server.stop();
    server = await startHttpServer({ raw, ...http }, rpc);
  }

  describe('routing', () => {
    it('returns 404 for an unknown path', async () => {
      const url = server.url.replace('/v1/rpc', '/nowhere?api-key=x');
      for (const init of [{}, { method: 'POST', body: call('getSlot') }]) {
        const response = await fetch(url, init);
        expect([response.status, await response.json()]).toEqual([
          404,
          {
            jsonrpc: '2.0',
            error: {
              code: -32047,
              message: 'No such path',
              data: { code: 'NOT_FOUND', paths: expect.any(String) },
            },
            id: null,
          },
        ]);
      }
    });

    it('returns 405 for an unsupported method, with the allowed ones', async () => {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
        const response = await fetch(server.url, { method });
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
        expect(await response.json()).toMatchObject({ error: { data: { code: 'METHOD_NOT_ALLOWED' } } });
      }
    });

    it.each([
      ['http://evil.example/health', 200],
      ['/health?api-key=a#b', 200],
      ['http://evil.example', 404],
      ['/health/', 404],
      ['/%68ealth', 404],
      ['/x/../health', 404],
      ['/health%00', 404],
    ])('handles the request target %s with %i', async (target, status) => {
      const wire = server.connect();
      wire.socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect(statusOf(await wire.ended())).toBe(status);
    });

    it.each([
      ['Application/JSON;charset=UTF-8', 200],
      ['text/plain', 415],
      ['application/jsonp', 415],
    ])('with content type %s returns %i', async (type, status) => {
      const response = await server.post(call('getSlot'), server.createKey(), { 'content-type': type });
      expect(response.status).toBe(status);
      if (status === 415)
        expect(await response.json()).toMatchObject({ error: { data: { code: 'UNSUPPORTED_MEDIA_TYPE' } } });
    });
  });

  it.each(['gzip', 'gzip, identity'])(
    'refuses a body compressed with %s before reading it',
    async (coding) => {
      const wire = server.connect();
      const head = rawPost(server.createKey(), '', `content-encoding: ${coding}\r\n`);
      wire.socket.write(head.replace('content-length: 0', 'content-length: 900000'));
      const received = await wire.until(/\n$/);
      expect([statusOf(received), dataOf(received)]).toMatchObject([
        415,
        { error: { data: { code: 'ENCODED_BODY' } } },
      ]);
      wire.socket.destroy();
    },
  );

  it('does not silently drop any of many headers', async () => {
    const wire = server.connect();
    wire.socket.write(rawPost(server.createKey(), call('getSlot'), `${'a:b\r\n'.repeat(2_500)}host: y\r\n`));
    expect(statusOf(await wire.ended())).toBe(400);
  });

  describe('health', () => {
    it('reports liveness', async () => {
      const response = await fetch(`http://127.0.0.1:${server.port}/health`);
      expect([response.status, await response.json()]).toEqual([200, { status: 'ok', mode: 'production' }]);
      expect((await fetch(`http://127.0.0.1:${server.port}/health`, { method: 'HEAD' })).status).toBe(200);
    });

    it('reports readiness', async () => {
      const response = await fetch(`http://127.0.0.1:${server.port}/ready`);
      expect([response.status, await response.json()]).toEqual([
        200,
        { ready: true, store: 'up', upstreams: { total: 1, usable: 1 }, draining: false, mode: 'production' },
      ]);
      server.usableNodes = 0;
      expect((await fetch(`http://127.0.0.1:${server.port}/ready`)).status).toBe(503);
    });
  });

  describe('a body that is too large', () => {
    const tooLarge = {
      error: { code: -32044, data: { code: 'BODY_TOO_LARGE', bodyMaxBytes: MEBIBYTE } },
      id: null,
    };

    it('is rejected by its content-length before it is sent', async () => {
      const wire = server.connect();
      wire.socket.write(
        rawPost(server.createKey(), '').replace('content-length: 0', `content-length: ${10 * MEBIBYTE}`),
      );
      const received = await wire.until(/\n$/);
      expect(statusOf(received)).toBe(413);
      expect(received).toMatch(/\r\nconnection: close\r\n/i);
      expect(dataOf(received)).toMatchObject(tooLarge);
      wire.socket.end();
      await wire.ended();
    });

    it('is rejected without a reset, for a client that reads only after sending everything', async () => {
      const wire = server.connect();
      const body = ' '.repeat(10 * MEBIBYTE);
      await new Promise<void>((resolve, reject) => {
        wire.socket.write(rawPost(server.createKey(), body), (fault) => (fault ? reject(fault) : resolve()));
      });
      expect(statusOf(await wire.until(/\n$/))).toBe(413);
      await wire.ended();
      await expect.poll(() => server.http.inFlight).toBe(0);
    });

    it('is rejected when sent in endless chunks', async () => {
      const wire = server.connect();
      wire.socket.write(
        rawPost(server.createKey(), '').replace('content-length: 0', 'transfer-encoding: chunked'),
      );
      const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
      for (let sent = 0; sent <= 17; sent++) wire.socket.write(chunk);
      const received = await wire.until(/\n$/);
      expect(statusOf(received)).toBe(413);
      wire.socket.end('0\r\n\r\n');
      await wire.ended();
      await expect.poll(() => server.http.inFlight).toBe(0);
    });

    it('gets no 100 Continue', async () => {
      const wire = server.connect();
      const head = rawPost(server.createKey(), '', 'expect: 100-continue\r\n');
      wire.socket.write(head.replace('content-length: 0', `content-length: ${2 * MEBIBYTE}`));
      expect(statusOf(await wire.until(/\n$/))).toBe(413);
      wire.socket.end();
      await wire.ended();
    });

    it('starts one byte above the limit', async () => {
      const body = call('getSlot');
      const padded = (bytes: number) => body + ' '.repeat(bytes - body.length);
      expect((await server.post(padded(MEBIBYTE), server.createKey())).status).toBe(200);
      expect((await server.post(padded(MEBIBYTE + 1), server.createKey())).status).toBe(413);
    });
  });

  describe('a connection', () => {
    it('answers pipelined requests in order', async () => {
      server.answer = async ({ params }) => {
        const turns = 10 - Number(String(params).slice(1, -1));
        for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
        return result(String(params));
      };
      const wire = server.connect();
      const key = server.createKey();
      wire.socket.write([1, 2, 3, 4].map((id) => rawPost(key, call('getSlot', id, `[${id}]`))).join(''));
      const received = await wire.until(/"id":4}\n$/);
      expect(received.match(/"result":\[\d\],"id":\d/g)).toEqual(
        [1, 2, 3, 4].map((id) => `"result":[${id}],"id":${id}`),
      );
      wire.socket.destroy();
    });

    it('continues after a failed call, and after a rejection whose body was read', async () => {
      const wire = server.connect();
      const key = server.createKey();
      wire.socket.write(rawPost(key, '{'));
      await wire.until(/-32700/);
      wire.socket.write(rawPost('nonsense', call('getSlot', 2)));
      await wire.until(/INVALID_KEY.*\n$/);
      wire.socket.write(rawPost(key, call('getSlot', 3)));
      await wire.until(/"id":3}\n$/);
      wire.socket.destroy();
    });

    it('gets 100 Continue before sending a body', async () => {
      const wire = server.connect();
      const [head = '', body = ''] = rawPost(
        server.createKey(),
        call('getSlot'),
        'expect: 100-continue\r\n',
      ).split('\r\n\r\n');
      wire.socket.write(`${head}\r\n\r\n`);
      await wire.until(/^HTTP\/1.1 100 Continue\r\n\r\n/);
      wire.socket.write(body);
      expect(await wire.until(/"id":1}\n$/)).toMatch(/HTTP\/1.1 200 OK/);
      wire.socket.destroy();
    });

    it('that breaks off within a body leaves nothing behind', async () => {
      const wire = server.connect();
      wire.socket.write(rawPost(server.createKey(), call('getSlot')).slice(0, -5));
      await expect.poll(() => server.http.inFlight).toBe(1);
      wire.socket.destroy();
      await expect.poll(() => server.http.inFlight).toBe(0);
      expect([server.calls, server.lines]).toEqual([[], []]);
    });

    it('that closes cancels all of its requests', async () => {
      server.answer = () =>
        new Promise((_resolve, reject) => {
          const cancelled = (): void => reject(new Failure('CLIENT_GONE'));
          server.calls.at(-1)?.signal?.addEventListener('abort', cancelled);
        });
      const wire = server.connect();
      const key = server.createKey();
      wire.socket.write([1, 2, 3].map((id) => rawPost(key, call('getSlot', id))).join(''));
      // Pipelined requests run one at a time.
      await expect.poll(() => server.calls.length).toBe(1);
      expect(server.http.inFlight).toBe(1);
      wire.socket.destroy();
      await expect.poll(() => server.http.inFlight).toBe(0);
      await expect.poll(() => server.calls.map(({ signal }) => signal?.aborted)).toEqual([true]);
      expect(server.lines).toEqual([]);
    });

    it('with an incomplete request gets 408, then is closed', async () => {
      await restart({ requestTimeoutMs: 200, headersTimeoutMs: 200 });
      const half = server.connect();
      half.socket.write(rawPost(server.createKey(), call('getSlot')).slice(0, -5));
      const headless = server.connect();
      headless.socket.write('POST /v1/rpc HTTP/1.1\r\nhost: x\r\n');
      const silent = server.connect();
      for (const received of await Promise.all([half.ended(), headless.ended(), silent.ended()])) {
        expect(statusOf(received)).toBe(408);
        expect(dataOf(received)).toMatchObject({ error: { data: { code: 'REQUEST_TIMEOUT' } } });
      }
      expect([server.calls, server.lines]).toEqual([[], []]);
    });

    it.each([
      ['headers', (_key: string) => 'POST /v1/rpc HTTP/1.1\r\nhost: x\r\nx-long: '],
      ['a body', (key: string) => rawPost(key, '').replace('content-length: 0', 'content-length: 100000')],
      [
        'a chunk',
        (key: string) =>
          `${rawPost(key, '').replace('content-length: 0', 'transfer-encoding: chunked')}fffff\r\n`,
      ],
    ])('that sends %s byte by byte is closed', async (_what, start) => {
      await restart({ requestTimeoutMs: 200, headersTimeoutMs: 200 });
      const wire = server.connect();
      wire.socket.write(start(server.createKey()));
      const timer = setInterval(() => wire.socket.write('a'), 10);
      onTestFinished(() => clearInterval(timer));
      expect(['', 'HTTP/1.1 408']).toContain((await wire.ended()).slice(0, 12));
      await expect.poll(() => server.http.inFlight).toBe(0);
    });

    it('ignores headers in trailers, for this request and the next', async () => {
      const key = server.createKey();
      const head = rawPost(key, '').replace('content-length: 0', 'transfer-encoding: chunked');
      const chunk = `${call('first').length.toString(16)}\r\n${call('first')}\r\n0\r\n`;
      const trailers = `host: y\r\ncontent-type: text/plain\r\nauthorization: Bearer ${key}\r\n\r\n`;
      const statusesOf = async (bytes: string): Promise<string[]> => {
        const wire = server.connect();
        wire.socket.write(bytes);
        return [...(await wire.ended()).matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => status!);
      };
      const next = rawPost(key, call('next'), 'connection: close\r\n');
      expect(await statusesOf(head + chunk + trailers + next)).toEqual(['200', '200']);
      const keyless = head.replace(/authorization.*\r\n/, 'connection: close\r\n');
      expect(await statusesOf(keyless + chunk + trailers)).toEqual(['401']);
      const endless = Array.from({ length: 2_000 }, (_, at) => `x-${at}: ${'y'.repeat(100)}\r\n`).join('');
      expect((await statusesOf(head + chunk + endless)).length).toBeLessThan(2);
      expect(server.calls.map((entry) => entry.call.method)).toEqual(['first', 'next']);
    });

    it('whose client does not read the response is closed', async () => {
      await restart({ idleTimeoutMs: 200 });
      server.answer = async () => result(`"${'x'.repeat(16 * MEBIBYTE)}"`);
      const wire = server.connect();
      wire.socket.pause();
      wire.socket.write(rawPost(server.createKey(), call('getProgramAccounts')));
      await expect.poll(() => server.calls.length).toBe(1);
      await expect.poll(() => server.http.inFlight, { timeout: 5_000 }).toBe(0);
      wire.socket.destroy();
    });

    it.each([
      ['invalid HTTP', 'nonsense\r\n\r\n', 400],
      ['no Host header', 'GET /health HTTP/1.1\r\n\r\n', 400],
      ['an unknown expectation', 'GET /health HTTP/1.1\r\nhost: x\r\nexpect: foo\r\n\r\n', 400],
      ['headers without end', `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`, 431],
    ])('that sends %s gets an error, then is closed', async (_what, bytes, status) => {
      const wire = server.connect();
      wire.socket.write(bytes);
      const received = await wire.ended();
      expect(statusOf(received)).toBe(status);
      expect(dataOf(received)).toMatchObject({ jsonrpc: '2.0', id: null });
      // Scripts in a browser may read the error.
      expect(received).toContain('\r\naccess-control-allow-origin: *\r\n');
      expect(received).toContain(
        '\r\naccess-control-expose-headers: RateLimit, RateLimit-Policy, Retry-After\r\n',
      );
    });

    it.each([
      ['garbage', '\x00\x01'],
      ['incomplete headers', 'POST /v1/rpc HTTP/1.1\r\nHos'],
      ['an incomplete body', rawPost(null, '{').replace('content-length: 1', 'content-length: 9')],
    ])('with %s after a call gets the response to the call, then is closed', async (_what, rest) => {
      await restart({ requestTimeoutMs: 50, headersTimeoutMs: 50 });
      let finish = (): void => {};
      server.answer = () => new Promise((resolve) => (finish = () => resolve(result('"done"'))));
      const wire = server.connect();
      wire.socket.write(rawPost(server.createKey(), call('requestAirdrop')) + rest);
      await expect.poll(() => server.calls.length).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 150)); // Longer than the timeouts above.
      expect([wire.received, wire.closed]).toEqual(['', false]);
      finish();
      const received = await wire.ended();
      expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n.*"result":"done","id":1}\n/s);
      expect(received).not.toMatch(/ 400 | 408 /);
      await expect.poll(() => server.http.inFlight).toBe(0);
    });

    it('beyond the connection limit is closed', async () => {
      await restart({ connectionsMax: 1 });
      const first = server.connect();
      first.socket.write(rawPost(server.createKey(), call('getSlot')));
      await first.until(/\n$/);
      const second = server.connect();
      await second.ended();
      expect(second.received).toBe('');
      first.socket.destroy();
    });
  });

  it.each<[string, TestServerOptions, Parameters<typeof startHttpServer>[1]]>([
    ['requests', { requestsInFlightMax: 1 }, {}],
    ['body bytes', {}, { bodiesMaxBytes: 1_000 }],
  ])(
    'too many concurrent %s are refused with retry-after, and accepted again later',
    async (_what, http, rpc) => {
      await restart(http, rpc);
      const key = server.createKey();
      const body = call('getSlot', 1, `["${'x'.repeat(800)}"]`);
      let finish = (): void => {};
      server.answer = () => new Promise((resolve) => (finish = () => resolve(result('1'))));
      const first = server.post(body, key);
      await expect.poll(() => server.calls.length).toBe(1);
      const refused = await server.post(body, key);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({ error: { data: { code: 'OVERLOADED' } } });
      finish();
      expect((await first).status).toBe(200);
      server.answer = async () => result('1');
      for (let i = 0; i < 2; i++) {
        await expect.poll(() => server.http.inFlight).toBe(0);
        expect((await server.post(body, key)).status).toBe(200);
      }
    },
  );

  describe('request bodies that together exceed the memory budget', () => {
    const chunked = (key: string | null) =>
      rawPost(key, '').replace('content-length: 0', 'transfer-encoding: chunked');

    // The fast path does not read chunked bodies.
    if (!raw) {
      it('are limited for chunks of any size', async () => {
        await restart({}, { bodiesMaxBytes: MEBIBYTE });
        const key = server.createKey();
        const wires = [1, 2, 3].map(() => server.connect());
        for (const wire of wires) wire.socket.write(chunked(key) + '1\r\n \r\n'.repeat(150_000));
        // The next body to grow is rejected.
        const isRefused = async () =>
          wires.some(({ received }) => received.startsWith('HTTP/1.1 503')) ||
          (await server.post(' '.repeat(MEBIBYTE), key)).status === 503;
        await expect.poll(isRefused, { timeout: 50_000 }).toBe(true);
        for (const wire of wires) wire.socket.destroy();
        // The server still reads bytes received before.
        await expect.poll(() => server.http.inFlight, { timeout: 20_000 }).toBe(0);
        expect((await server.post(call('getSlot') + ' '.repeat(MEBIBYTE / 2), key)).status).toBe(200);
      });
    }

    it('exclude bodies of requests without a valid key, which are rejected before their bodies are read', async () => {
      await restart({}, { bodiesMaxBytes: MEBIBYTE });
      const wires = [null, null, 'nonsense'].map((key) => {
        const wire = server.connect();
        wire.socket.write(`${chunked(key)}80000\r\n${' '.repeat(0x80000)}\r\n`);
        return wire;
      });
      const statuses = await Promise.all(wires.map((wire) => wire.until(/\n$/).then(statusOf)));
      expect(statuses).toEqual([401, 401, 403]);
      expect((await server.post(' '.repeat(MEBIBYTE), server.createKey())).status).toBe(200);
      for (const wire of wires) wire.socket.destroy();
    });

    it('reserve no memory for an announced length', async () => {
      await restart({}, { bodiesMaxBytes: MEBIBYTE });
      const wire = server.connect();
      const head = rawPost(server.createKey(), '').replace(
        'content-length: 0',
        `content-length: ${MEBIBYTE}`,
      );
      wire.socket.write(`${head} `);
      await expect.poll(() => server.http.inFlight).toBe(1);
      expect((await server.post(call('getSlot') + ' '.repeat(MEBIBYTE / 2), server.createKey())).status).toBe(
        200,
      );
      wire.socket.destroy();
    });
  });

  describe('draining', () => {
    it('finishes in-flight requests, closes their connections, and accepts no new ones', async () => {
      const key = server.createKey();
      let finish = (): void => {};
      server.answer = () => new Promise((resolve) => (finish = () => resolve(result('"last"'))));
      const wire = server.connect();
      wire.socket.write(rawPost(key, call('getSlot')));
      await expect.poll(() => server.calls.length).toBe(1);
      const drained = server.http.drain(10_000);
      const late = server.connect();
      await late.ended();
      expect(late.received).toBe('');
      finish();
      expect(await wire.ended()).toMatch(/^HTTP\/1.1 200 OK\r\n.*"result":"last"/s);
      expect(await drained).toBe(true);
    });

    it('answers requests that arrive on open connections, then closes these', async () => {
      const key = server.createKey();
      const [existing, fresh] = [server.connect(), server.connect()];
      existing.socket.write(rawPost(key, call('getSlot', 1)));
      fresh.socket.write(rawPost(key, call('getSlot', 2)).slice(0, 40));
      await existing.until(/"id":1}\n$/);
      const drained = server.http.drain(10_000);
      await new Promise(setImmediate);
      existing.socket.write(rawPost(key, call('getSlot', 3)));
      fresh.socket.write(rawPost(key, call('getSlot', 2)).slice(40));
      expect(await existing.ended()).toMatch(/\r\nconnection: close\r\n.*"id":3}\n$/is);
      expect(await fresh.ended()).toMatch(/\r\nconnection: close\r\n.*"id":2}\n$/is);
      expect(await drained).toBe(true);
    });

    it('is reported by /ready while requests are still served with connection: close', async () => {
      const key = server.createKey();
      const idle = server.connect();
      idle.socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
      await idle.until(/"mode":"production"}\n$/);
      const drained = server.http.drain(10_000, 300);
      const ready = await fetch(`http://127.0.0.1:${server.port}/ready`);
      expect([ready.status, await ready.json()]).toMatchObject([503, { ready: false, draining: true }]);
      const response = await server.post(call('getSlot'), key);
      expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
      expect(await drained).toBe(true);
      await idle.ended();
    });

    it('aborts requests that do not finish in time', async () => {
      server.answer = () => new Promise(() => {});
      const wire = server.connect();
      wire.socket.write(rawPost(server.createKey(), call('getSlot')));
      await expect.poll(() => server.calls.length).toBe(1);
      const startedAt = performance.now();
      expect(await server.http.drain(300)).toBe(false);
      expect(performance.now() - startedAt).toBeLessThan(550);
      expect(await wire.ended()).toBe('');
      await expect.poll(() => server.calls[0]?.signal?.aborted).toBe(true);
    });

    it('is idempotent', async () => {
      expect(await Promise.all([server.http.drain(10), server.http.drain(10)])).toEqual([true, true]);
    });
  });
});

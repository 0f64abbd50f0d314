import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { rawPost, result } from './start-http-server.ts';
import {
  clientFrame,
  closeOf,
  handshake,
  readRefusal,
  TestWebSocketServer,
} from './start-websocket-server.ts';

const ACCOUNT = ['11111111111111111111111111111111', { commitment: 'confirmed' }];

let server: TestWebSocketServer;

beforeEach(async () => {
  server = await new TestWebSocketServer().listen();
});

afterEach(() => server.stop());

async function restart(...options: ConstructorParameters<typeof TestWebSocketServer>): Promise<void> {
  await server.stop();
  server = await new TestWebSocketServer(...options).listen();
}

const requestsOf = (name: string): number =>
  server.usage
    .snapshot()
    .filter(({ method }) => method === name)
    .reduce((sum, { requests }) => sum + requests, 0);

describe('a handshake', () => {
  it('succeeds with the key in the query, or as a bearer token', async () => {
    const key = server.createKey();
    for (const client of [
      await server.connect(key),
      await server.connect(null, { headers: { authorization: `Bearer ${key}` } }),
    ]) {
      expect(await client.request('getSlot')).toEqual({ jsonrpc: '2.0', result: { params: null }, id: 1 });
    }
  });

  it('also succeeds on the JSON-RPC path, which web3.js derives from an http URL', async () => {
    const client = await server.connect(server.createKey(), {}, '/v1/rpc');
    expect(await client.request('getSlot')).toEqual({ jsonrpc: '2.0', result: { params: null }, id: 1 });
    expect(await client.request('slotSubscribe')).toMatchObject({ result: 1 });
  });

  const refused: [string, () => string, number, string][] = [
    ['without a key', () => '/v1/ws', 401, 'MISSING_KEY'],
    ['with a key that does not exist', () => '/v1/ws?api-key=nonsense', 403, 'INVALID_KEY'],
    [
      'with the key of another product',
      () => `/v1/ws?api-key=${server.createKey({}, {}, 'grpc')}`,
      403,
      'UNAUTHORIZED_PRODUCT',
    ],
    ['on a path that does not exist', () => `/v1/wss?api-key=${server.createKey()}`, 404, 'NOT_FOUND'],
  ];
  it.each(refused)('%s is rejected with an HTTP response', async (_, path, status, code) => {
    const refusal = await server.refusal(path());
    expect(refusal).toMatchObject({ status, body: { id: null, error: { data: { code } } } });
    expect(refusal.head).toContain('content-type: application/json');
    expect(refusal.head).toContain('connection: close');
  });

  const malformed: [string, Record<string, string>, number, string][] = [
    ['an unsupported version', { 'sec-websocket-version': '8' }, 426, 'UPGRADE_REQUIRED'],
    ['no Sec-WebSocket-Key', { 'sec-websocket-key': '' }, 400, 'MALFORMED_HTTP'],
    ['no Host', { host: '' }, 400, 'MALFORMED_HTTP'],
  ];
  it.each(malformed)('with %s is rejected', async (_, headers, status, code) => {
    const refusal = await server.refusal(`/v1/ws?api-key=${server.createKey()}`, headers);
    expect(refusal).toMatchObject({ status, body: { error: { data: { code } } } });
    if (status === 426) expect(refusal.head).toContain('sec-websocket-version: 13');
    expect(server.webSocket.size).toBe(0);
  });

  it('over HTTP/1.0 is rejected', async () => {
    const wire = server.rawClient();
    wire.socket.write(handshake(`/v1/ws?api-key=${server.createKey()}`).replace('HTTP/1.1', 'HTTP/1.0'));
    expect(readRefusal(await wire.ended())).toMatchObject({ status: 400 });
  });

  it('without upgrade headers gets 426', async () => {
    const url = server.url(server.createKey({ wsConnectionsMax: 1 })).replace('ws:', 'http:');
    const response = await fetch(url);
    expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket']);
    expect(await response.json()).toMatchObject({ error: { data: { code: 'UPGRADE_REQUIRED' } } });
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    // The first request did not count against any limit of the key.
    expect((await fetch(url)).status).toBe(426);
  });

  it('for another protocol is handled as an ordinary request', async () => {
    const wire = server.rawClient();
    const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    wire.socket.write(
      `POST /v1/rpc HTTP/1.1\r\nhost: x\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\n` +
        `content-type: application/json\r\nauthorization: Bearer ${server.createKey()}\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    expect(await wire.until(/"id":1}\n$/)).toMatch(/^HTTP\/1\.1 200/);
    wire.socket.destroy();
  });

  it('is rejected with 503 beyond the connection limit of the server', async () => {
    await restart({ webSocket: { connectionsMax: 1 } });
    await server.connect();
    expect(await server.refusal(`/v1/ws?api-key=${server.createKey()}`)).toMatchObject({
      status: 503,
      body: { error: { data: { code: 'OVERLOADED' } } },
    });
  });

  it('negotiates neither a subprotocol nor compression', async () => {
    const wire = server.rawClient();
    const offers = {
      'sec-websocket-protocol': 'chat, ,,superchat',
      'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
    };
    wire.socket.write(handshake(`/v1/ws?api-key=${server.createKey()}`, offers));
    const head = (await wire.until(/\r\n\r\n/)).toLowerCase();
    expect(head).toMatch(/^http\/1\.1 101/);
    expect(head).not.toMatch(/sec-websocket-(protocol|extensions)/);
    wire.socket.destroy();
  });

  it('accepts an API key as the second subprotocol, and answers with the first', async () => {
    const connect = async (key: string): Promise<string> => {
      const wire = server.rawClient();
      wire.socket.write(handshake('/v1/ws', { 'sec-websocket-protocol': `api-key, ${key}` }));
      const head = (await wire.until(/\r\n\r\n/)).toLowerCase();
      wire.socket.destroy();
      return head;
    };
    const head = await connect(server.createKey());
    expect(head).toMatch(/^http\/1\.1 101[\s\S]*sec-websocket-protocol: api-key\r/);
    expect(await connect('svc_rpc_live_x')).toMatch(/^http\/1\.1 403/);
  });

  it('may be followed immediately by the first message', async () => {
    const wire = server.rawClient();
    const text = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    const frame = Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
    const key = server.createKey();
    wire.socket.write(Buffer.concat([Buffer.from(handshake(`/v1/ws?api-key=${key}`)), frame]));
    expect(await wire.until(/"id":1}$/)).toContain('{"jsonrpc":"2.0","result":{"params":null},"id":1}');
    wire.socket.destroy();
  });

  it('sent during a pending call gets only the response to that call', async () => {
    const slow = Promise.withResolvers<void>();
    server.answer = async () => {
      await slow.promise;
      return result('"late"');
    };
    const key = server.createKey();
    const wire = server.rawClient();
    wire.socket.write(rawPost(key, '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'));
    wire.socket.write(handshake(`/v1/ws?api-key=${key}`));
    await expect.poll(() => server.calls.length).toBe(1);
    slow.resolve();
    const received = await wire.ended();
    expect(received).toMatch(/^HTTP\/1\.1 200 [\s\S]*"late"/);
    expect(received).not.toContain('101');
    expect(server.webSocket.size).toBe(0);
  });
});

describe('a subscription', () => {
  it('is acknowledged, notified and ended', async () => {
    const client = await server.connect();
    expect(await client.request('accountSubscribe', ACCOUNT, 'a')).toEqual({
      jsonrpc: '2.0',
      result: 1,
      id: 'a',
    });
    server.feed.emit('account', '{"value":18446744073709551615}');
    expect(await client.next()).toBe(
      '{"jsonrpc":"2.0","method":"accountNotification","params":{"result":{"value":18446744073709551615},"subscription":1}}',
    );
    expect(await client.request('accountUnsubscribe', [1])).toEqual({ jsonrpc: '2.0', result: true, id: 1 });
    server.feed.emit('account', '{}');
    await client.settle();
    expect(client.received).toHaveLength(3);
  });

  it('that ends upstream closes the connection, so that the client notices', async () => {
    const client = await server.connect();
    await client.request('slotSubscribe');
    server.feed.openings[0]?.listener.onError(new Failure('UPSTREAM_UNAVAILABLE'));
    expect(await client.closed).toEqual({
      code: 1013,
      reason: 'UPSTREAM_UNAVAILABLE: The upstream service is temporarily unavailable',
    });
  });
});

describe('a message', () => {
  it('may contain any call, answered and metered as over HTTP', async () => {
    const client = await server.connect();
    const text = '{"jsonrpc":"2.0","id":"x\\u0041","method":"getBlock","params":[18446744073709551615]}';
    client.socket.send(text);
    const answer = '{"jsonrpc":"2.0","result":{"params":[18446744073709551615]},"id":"x\\u0041"}';
    expect(await client.next()).toBe(answer);
    const bytes = { bytesIn: text.length, bytesOut: answer.length };
    const met = { method: 'getBlock', requests: 1, credits: 5, ...bytes };
    expect(server.usage.drain()).toMatchObject([met]);
  });

  it('uses the session of its handshake, shared with HTTP, or none', async () => {
    const key = server.createKey();
    const headers = { 'x-solway-session': 'order book' };
    const named = await server.connect(key, { headers });
    const unnamed = await server.connect(key);
    await named.request('getSlot');
    await unnamed.request('getSlot');
    const body = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
    const authorization = `Bearer ${key}`;
    const type = 'application/json';
    await fetch(`http://127.0.0.1:${server.port}/v1/rpc`, {
      method: 'POST',
      headers: { ...headers, authorization, 'content-type': type },
      body,
    });
    const [first, second, third] = server.calls.map(({ call }) => call.minSlot ?? null);
    expect(first).not.toBeNull();
    expect(second).toBeNull();
    expect(third).toBe(first);
  });

  it('may be binary if it is UTF-8', async () => {
    const client = await server.connect();
    client.socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"getSlot"}'), { binary: true });
    expect(await client.nextJson()).toMatchObject({ result: { params: null } });
  });

  const faulty: [string, string, unknown][] = [
    ['invalid JSON', '{', { error: { code: -32700, message: 'Parse error' }, id: null }],
    ['no JSON-RPC version', '{"id":1,"method":"getSlot"}', { error: { code: -32600 }, id: 1 }],
    [
      'named params of a subscription',
      '{"jsonrpc":"2.0","id":1,"method":"accountSubscribe","params":{}}',
      { error: { code: -32602 } },
    ],
  ];
  it.each(faulty)('with %s gets an error, and the connection stays open', async (_, text, error) => {
    const client = await server.connect();
    client.socket.send(text);
    expect(await client.nextJson()).toMatchObject(error as object);
    expect(await client.request('getSlot')).toMatchObject({ id: 1, result: {} });
  });

  it('without an id is neither executed nor answered', async () => {
    const client = await server.connect();
    client.socket.send('{"jsonrpc":"2.0","method":"getSlot"}');
    client.socket.send('{"jsonrpc":"2.0","method":"slotSubscribe"}');
    client.socket.send('[{"jsonrpc":"2.0","method":"slotSubscribe"}]');
    await client.settle();
    expect([client.received, server.calls, server.feed.openings]).toEqual([[], [], []]);
  });

  it('is answered when its call completes, not in order', async () => {
    const slow = Promise.withResolvers<void>();
    server.answer = async ({ method }) => {
      if (method === 'getBlock') await slow.promise;
      return result(`"${method}"`);
    };
    const client = await server.connect();
    client.send('getBlock', [1], 1);
    expect(await client.request('getSlot', [], 2)).toMatchObject({ id: 2 });
    slow.resolve();
    expect(await client.nextJson()).toMatchObject({ id: 1, result: 'getBlock' });
  });

  it('returns the error of a node', async () => {
    const client = await server.connect();
    server.answer = async () => ({
      body: Buffer.from('{"code":-32005,"message":"behind"}'),
      errorCode: -32005,
    });
    expect(await client.request('getHealth')).toEqual({
      jsonrpc: '2.0',
      error: { code: -32005, message: 'behind' },
      id: 1,
    });
  });

  it('waits when its connection has too many calls in flight, and is rejected when too many wait', async () => {
    await restart({ webSocket: { callsInFlightMax: 2, callsWaitingMax: 1 } });
    const slow = Promise.withResolvers<void>();
    server.answer = async () => {
      await slow.promise;
      return result('1');
    };
    const client = await server.connect();
    for (const id of [1, 2, 3, 4]) client.send('getSlot', [], id);
    expect(await client.nextJson()).toMatchObject({ id: 4, error: { data: { code: 'OVERLOADED' } } });
    expect(server.calls).toHaveLength(2);
    slow.resolve();
    const answers = [await client.nextJson(), await client.nextJson(), await client.nextJson()];
    expect(answers).toMatchObject([
      { id: 1, result: 1 },
      { id: 2, result: 1 },
      { id: 3, result: 1 },
    ]);
  });

  it('is rejected when all connections together have too many calls in flight', async () => {
    await restart({ webSocket: { allCallsInFlightMax: 1 } });
    server.answer = () => new Promise(() => {});
    const [one, other] = [await server.connect(), await server.connect()];
    one.send('getSlot');
    await expect.poll(() => server.calls.length).toBe(1);
    expect(await other.request('getSlot')).toMatchObject({ error: { data: { code: 'OVERLOADED' } } });
    one.socket.terminate();
  });
});

describe('invalid messages', () => {
  const limits = { rpcPerSecond: 50 };
  const gate = { messageRate: { messagesPerSecond: 50 } };

  it('are read at the rate limit of the key, and all answered', async () => {
    await restart({ gate });
    const client = await server.connect(server.createKey(limits));
    const text = `[${Array(10).fill('{}').join()}]`;
    const count = 13;
    const before = performance.now();
    for (let sent = 0; sent < count; sent++) client.socket.send(text);
    for (let sent = 0; sent < count; sent++) await client.next();
    client.socket.send('{');
    await client.next();
    // A burst of two seconds is read immediately; the rest at the rate of the key.
    expect(performance.now() - before).toBeGreaterThan(500);
  });

  it('close the connection if they continue', async () => {
    await restart({ gate });
    const wire = await server.upgradedClient(server.createKey(limits));
    wire.socket.write(Buffer.concat(Array.from({ length: 1_000 }, () => clientFrame(0x89, Buffer.alloc(0)))));
    const close = closeOf(await wire.ended());
    expect([close.code, close.reason]).toEqual([1008, expect.stringMatching(/^RATE_LIMITED/)]);
  });
});

describe('a batch', () => {
  const item = (method: string, id: number, params: unknown = []) => ({ jsonrpc: '2.0', id, method, params });

  it('gets one response, in order, followed by its notifications', async () => {
    const client = await server.connect();
    server.feed.gate = async () =>
      server.feed.openings.at(-1)?.listener.onNotification(Buffer.from('5'), false);
    client.socket.send(
      JSON.stringify([
        item('slotSubscribe', 1),
        item('getSlot', 2),
        item('rootSubscribe', 3),
        item('slotUnsubscribe', 4, [99]),
        { colour: 'red' },
      ]),
    );
    expect(await client.nextJson()).toMatchObject([
      { id: 1, result: 1 },
      { id: 2, result: { params: [] } },
      { id: 3, result: 2 },
      { id: 4, error: { code: -32602 } },
      { id: null, error: { code: -32600 } },
    ]);
    const observed = [await client.nextJson(), await client.nextJson()];
    expect(observed).toMatchObject([{ params: { subscription: 1 } }, { params: { subscription: 2 } }]);
  });

  it('is limited in the total size of its responses', async () => {
    await restart({ webSocket: { batchResponsesMaxBytes: 200, batchConcurrency: 1 } });
    server.answer = async () => result(`"${'x'.repeat(88)}"`);
    const client = await server.connect();
    for (let i = 1; i <= 2; i++) {
      client.socket.send(JSON.stringify(Array.from({ length: 5 }, (_, id) => item('getSlot', id))));
      const data = { code: 'BATCH_ANSWER_TOO_LARGE', answersMaxBytes: 200 };
      const refused = { error: { data } };
      const observed = { result: 'x'.repeat(88) };
      expect(await client.nextJson()).toMatchObject([observed, observed, refused, refused, refused]);
      // Calls without memory for their responses are not sent upstream.
      expect(server.calls).toHaveLength(3 * i);
    }
  });

  it('is cancelled when its client disconnects', async () => {
    const client = await server.connect();
    const first = Promise.withResolvers<void>();
    server.answer = async () => {
      await first.promise;
      return result('1');
    };
    client.socket.send(JSON.stringify(Array.from({ length: 50 }, (_, id) => item('getSlot', id))));
    await expect.poll(() => server.calls.length).toBe(8);
    client.socket.terminate();
    await expect.poll(() => server.webSocket.size).toBe(0);
    expect(server.calls.map(({ signal }) => signal?.aborted)).toEqual(Array(8).fill(true));
    first.resolve();
    await (await server.connect()).request('getHealth');
    expect(server.calls).toHaveLength(9);
    expect(requestsOf('getSlot')).toBe(8);
  });
});

describe('a connection closed by its client', () => {
  it('cancels everything, including a subscription still being opened', async () => {
    const client = await server.connect();
    const opening = Promise.withResolvers<void>();
    server.feed.gate = () => opening.promise;
    server.answer = () => new Promise(() => {});
    client.send('slotSubscribe');
    client.send('getSlot');
    await expect.poll(() => [server.feed.openings.length, server.calls.length]).toEqual([1, 1]);
    client.socket.close(1000, 'bye');
    expect(await client.closed).toEqual({ code: 1000, reason: 'bye' });
    opening.resolve();
    await expect.poll(() => server.webSocket.size).toBe(0);
    expect(server.calls[0]?.signal?.aborted).toBe(true);
  });
});

import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RawClient, result } from './start-http-server.ts';
import { clientFrame, closeOf, TestWebSocketServer } from './start-websocket-server.ts';

const MEBIBYTE = 1024 * 1024;
const CALL = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
const SUBSCRIBE = '{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}';

let server: TestWebSocketServer;

beforeEach(async () => {
  server = await new TestWebSocketServer().listen();
});

afterEach(() => server.stop());

async function restart(...options: ConstructorParameters<typeof TestWebSocketServer>): Promise<void> {
  await server.stop();
  server = await new TestWebSocketServer(...options).listen();
}

async function pausedClient(): Promise<RawClient> {
  const wire = await server.upgradedClient();
  wire.socket.write(clientFrame(0x81, Buffer.from(SUBSCRIBE)));
  await wire.until(/"id":1}/);
  wire.socket.pause();
  return wire;
}

/** Waits until the received data ends with this text; searches only its end, because there may be much. */
function untilTail(wire: RawClient, text: string): Promise<string> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (wire.received.slice(-200).includes(text)) resolve(wire.received);
    };
    wire.socket.on('data', check);
    check();
  });
}

function fakeClock(): { nowMs: number } {
  // An integer, because a sum of fractions may be slightly below the limit under test.
  const clock = { nowMs: Math.ceil(performance.now()) };
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  onTestFinished(() => spy.mockRestore());
  return clock;
}

const allClosed = () => expect.poll(() => server.webSocket.size, { timeout: 10_000 }).toBe(0);

describe('a key', () => {
  it.each([
    ['is revoked', () => ({ status: 'revoked' as const })],
    ['expires', () => ({ expiresAt: Date.now() })],
  ] as const)('that %s closes its connections', async (_name, change) => {
    const key = server.createKey();
    const other = await server.connect();
    const clients = [await server.connect(key), await server.connect(key)];
    await clients[0]?.request('slotSubscribe');
    const before = performance.now();
    server.changeKey(key, change());
    for (const client of clients) {
      expect(await client.closed).toEqual({
        code: 1008,
        reason: 'INVALID_KEY: The API key is invalid, inactive or expired',
      });
    }
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(await other.request('getSlot')).toMatchObject({ id: 1 });
  });
});

describe('a client that does not read', () => {
  it('still receives the close reason when it reads later', async () => {
    await restart({ webSocket: { queueMaxBytes: 64 * 1024, closeTimeoutMs: 5_000 } });
    const wire = await pausedClient();
    const big = JSON.stringify('x'.repeat(64 * 1024));
    const { promise: cut, resolve } = Promise.withResolvers<void>();
    const opening = server.feed.openings[0];
    const publish = (): void => {
      for (let observed = 0; observed < 20; observed++) server.feed.emit('slot', big);
      if (server.gateway.topics > 0 && opening !== undefined && server.usage.snapshot().length < 2)
        setImmediate(publish);
      else resolve();
    };
    publish();
    await cut;
    wire.socket.resume();
    const { code, reason } = closeOf(await untilTail(wire, 'bytes behind)'));
    expect(code).toBe(1013);
    expect(server.connections.lagged).toBe(1);
    expect(reason).toMatch(
      /^LAGGING: The client reads messages too slowly: read faster or subscribe to less \(\d+ bytes behind\)$/,
    );
    wire.socket.destroy();
  });

  it('cannot send calls while its queue is too large', async () => {
    await restart({ webSocket: { queueMaxBytes: 2 * MEBIBYTE } });
    const wire = await pausedClient();
    const large = `"${'y'.repeat(10 * MEBIBYTE)}"`;
    server.answer = async () => result(large);
    wire.socket.write(clientFrame(0x81, Buffer.from(CALL)));
    await expect.poll(() => server.calls.length).toBe(1);
    wire.socket.write(clientFrame(0x81, Buffer.from(CALL)));
    wire.socket.write(clientFrame(0x89, Buffer.from('pong?')));
    wire.socket.resume();
    const received = await untilTail(wire, 'pong?');
    expect(received.includes('OVERLOADED')).toBe(true);
    expect(server.calls).toHaveLength(1);
    wire.socket.destroy();
  });

  it('is disconnected first when all queues together exceed the limit', async () => {
    await restart({
      webSocket: { queuesMaxBytes: 8 * MEBIBYTE, checkIntervalMs: 50, queueMaxBytes: 64 * MEBIBYTE },
    });
    const reader = await server.connect();
    await reader.request('slotSubscribe');
    const wire = await pausedClient();
    const big = JSON.stringify('x'.repeat(MEBIBYTE));
    for (let observed = 0; observed < 40 && server.webSocket.size === 2; observed++) {
      server.feed.emit('slot', big);
      await reader.next();
    }
    wire.socket.resume();
    expect(closeOf(await untilTail(wire, 'bytes behind)')).code).toBe(1013);
    wire.socket.destroy();
    expect(await reader.request('getSlot')).toMatchObject({ id: 1 });
  });
});

describe('a silent client', () => {
  it('is pinged, and disconnected if it does not answer', async () => {
    await restart({
      webSocket: { pingIntervalMs: 50, pongTimeoutMs: 100, checkIntervalMs: 10, closeTimeoutMs: 100 },
    });
    const wire = await server.upgradedClient();
    const received = Buffer.from(await wire.ended(), 'latin1');
    expect(received.subarray(0, 2)).toEqual(Buffer.from([0x89, 0]));
    expect(closeOf(wire.received)).toEqual({
      code: 1001,
      reason: 'UNRESPONSIVE: The client did not answer a ping',
    });
    await allClosed();
  });

  it('is closed if it has no subscriptions and sends no messages', async () => {
    await restart({ webSocket: { idleTimeoutMs: 100, checkIntervalMs: 10 } });
    const client = await server.connect();
    expect(await client.closed).toEqual({
      code: 1000,
      reason: 'IDLE: Idle timeout: subscribe or send a ping to keep the connection open',
    });
  });

  it('stays connected while it has a subscription, a call in flight, or sends pings', async () => {
    await restart({ webSocket: { idleTimeoutMs: 150, checkIntervalMs: 10 } });
    const clock = fakeClock();
    server.answer = () => new Promise(() => {});
    const [subscribed, calling, pinging, idle] = [
      await server.connect(),
      await server.connect(),
      await server.connect(),
      await server.connect(),
    ];
    await subscribed.request('slotSubscribe');
    calling.send('getSlot');
    await expect.poll(() => server.calls.length).toBe(1);
    for (let others = 0; others < 2; others++) {
      const other = others === 0 ? idle : await server.connect();
      for (let pings = 0; pings < 2; pings++) {
        clock.nowMs += 100;
        pinging.socket.ping();
        await once(pinging.socket, 'pong');
      }
      await other.closed;
    }
    await expect.poll(() => server.webSocket.size).toBe(3);
    await subscribed.request('slotUnsubscribe', [1]);
    clock.nowMs += 150;
    await Promise.all([subscribed.closed, pinging.closed]);
    calling.socket.terminate();
  });
});

describe('an invalid client frame', () => {
  const faults: [string, Buffer, number, string][] = [
    ['no mask', Buffer.from([0x81, 2, 0x7b, 0x7d]), 1002, 'Invalid WebSocket frame'],
    [
      'text in another encoding than UTF-8',
      clientFrame(0x81, Buffer.from([0xff, 0xfe])),
      1007,
      'Parse error',
    ],
    ['an invalid close code', clientFrame(0x88, Buffer.from([0, 5])), 1002, 'Invalid WebSocket frame'],
  ];
  it.each(faults)('with %s ends the connection', async (_, bytes, code, reason) => {
    const wire = await server.upgradedClient();
    wire.socket.write(bytes);
    const close = closeOf(await wire.ended());
    expect(close.code).toBe(code);
    expect(close.reason).toContain(reason);
    await allClosed();
    expect(server.lines).toEqual([]);
  });

  it('does not keep the connection open if sent endlessly', async () => {
    await restart({ webSocket: { closeTimeoutMs: 300 } });
    const wire = await server.upgradedClient();
    // Keeps writing after the server has ended the connection.
    wire.socket.allowHalfOpen = true;
    const garbage = Buffer.alloc(MEBIBYTE, 0xff);
    const ended = wire.ended();
    while (!wire.closed && wire.socket.writable) {
      if (!wire.socket.write(garbage))
        await Promise.race([once(wire.socket, 'drain').catch(() => {}), ended]);
    }
    await allClosed();
  });
});

describe('a message that is too large', () => {
  const limits = { wsMessageMaxBytes: 2_000 };
  const tooLarge = {
    code: 1009,
    reason: expect.stringMatching(/^MESSAGE_TOO_LARGE: The message is larger than this key may send/),
  };

  it('is rejected one byte above the limit of the plan', async () => {
    const client = await server.connect(server.createKey(limits));
    client.socket.send(CALL.padEnd(2_000));
    expect(await client.nextJson()).toMatchObject({ id: 1 });
    client.socket.send(CALL.padEnd(2_001));
    expect(await client.closed).toEqual(tooLarge);
    expect(server.calls).toHaveLength(1);
  });

  it('is rejected by its announced length before it is sent', async () => {
    const wire = await server.upgradedClient(server.createKey(limits));
    wire.socket.write(Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0]));
    expect(closeOf(await wire.ended())).toEqual(tooLarge);
  });
});

describe('draining', () => {
  it('closes every connection with a reason to reconnect', async () => {
    const clients = await Promise.all(Array.from({ length: 3 }, () => server.connect()));
    await Promise.all(clients.map((client) => client.request('slotSubscribe')));
    const before = performance.now();
    const drained = server.http.drain(10_000);
    const endings = await Promise.all(clients.map(({ closed }) => closed));
    // They are closed immediately because no calls are in flight, not at the end of the grace period.
    expect(performance.now() - before).toBeLessThan(3_000);
    const observed = { code: 1012, reason: 'DRAINING: This server is restarting: reconnect' };
    expect(endings).toEqual(Array(3).fill(observed));
    expect(await drained).toBe(true);
  });

  it('lets in-flight calls finish first', async () => {
    const slow = Promise.withResolvers<void>();
    server.answer = async () => {
      await slow.promise;
      return result('"late"');
    };
    const client = await server.connect();
    client.send('getSlot');
    await expect.poll(() => server.calls.length).toBe(1);
    const drained = server.http.drain(10_000);
    slow.resolve();
    expect(await client.nextJson()).toMatchObject({ result: 'late' });
    expect((await client.closed).code).toBe(1012);
    expect(await drained).toBe(true);
  });

  it('accepts no new connections, even during the notice period', async () => {
    const path = `/v1/ws?api-key=${server.createKey()}`;
    const drained = server.http.drain(1_000, 200);
    expect(await server.refusal(path)).toMatchObject({
      status: 503,
      body: { error: { data: { code: 'DRAINING' } } },
    });
    await drained;
  });

  it('aborts connections that do not end in time', async () => {
    server.answer = () => new Promise(() => {});
    const stubborn = await server.upgradedClient();
    const calling = await server.connect();
    calling.send('getSlot');
    await expect.poll(() => server.calls.length).toBe(1);
    expect(await server.http.drain(500)).toBe(false);
    expect(closeOf(await stubborn.ended()).code).toBe(1012);
    expect((await calling.closed).code).toBe(1012);
  });
});

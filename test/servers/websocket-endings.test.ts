import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RawClient, result } from './start-http-server.ts';
import { type Client, clientFrame, closeOf, TestWebSocketServer } from './start-websocket-server.ts';

const MEBIBYTE = 1024 * 1024;
const CALL = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
const SUBSCRIBE = '{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"}';

let door: TestWebSocketServer;

beforeEach(async () => {
  door = await new TestWebSocketServer().listen();
});

afterEach(() => door.stop());

async function restart(...options: ConstructorParameters<typeof TestWebSocketServer>): Promise<void> {
  await door.stop();
  door = await new TestWebSocketServer(...options).listen();
}

/** A subscriber that does not read. */
async function deafWire(): Promise<RawClient> {
  const wire = await door.upgradedClient();
  wire.socket.write(clientFrame(0x81, Buffer.from(SUBSCRIBE)));
  await wire.until(/"id":1}/);
  wire.socket.pause();
  return wire;
}

/** Waits until what came ends with such a text; looks at the end alone, because it may be much. */
function untilTail(wire: RawClient, text: string): Promise<string> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (wire.received.slice(-200).includes(text)) resolve(wire.received);
    };
    wire.socket.on('data', look);
    look();
  });
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Bytes of buffers that somebody still holds: what was let go of is collected first. */
function keptBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

/** Lets time stand still for connections, but for what a test adds to it. */
function heldClock(): { nowMs: number } {
  // Whole: a sum of times with fractions may come out a hair below the limit that a test moves it to.
  const clock = { nowMs: Math.ceil(performance.now()) };
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  onTestFinished(() => spy.mockRestore());
  return clock;
}

const gone = () => expect.poll(() => door.webSocket.size, { timeout: 10_000 }).toBe(0);

describe('a key that ends', () => {
  it.each(['revoked', 'disabled'] as const)('because it is %s closes its connections', async (state) => {
    const key = door.createKey();
    const other = await door.connect();
    const clients = [await door.connect(key), await door.connect(key)];
    await clients[0]?.request('slotSubscribe');
    const before = performance.now();
    door.changeKey(key, { status: state });
    for (const client of clients) {
      expect(await client.closed).toEqual({
        code: 1008,
        reason: 'INVALID_KEY: The API key is invalid, inactive or expired',
      });
    }
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(await other.request('getSlot')).toMatchObject({ id: 1 });
  });

  it('because it expires closes its connections within a second', async () => {
    /** How late it was for one that was connected when its key was told to expire. */
    const lateMs = async (): Promise<number> => {
      const key = door.createKey();
      const client = await door.connect(key);
      const expiresAt = Date.now() + 100;
      door.changeKey(key, { expiresAt });
      expect((await client.closed).code).toBe(1008);
      return Date.now() - expiresAt;
    };
    const first = await lateMs();
    expect(first).toBeGreaterThanOrEqual(0);
    // What else the machine does may take the rest of one second, and not of two.
    expect(first < 1_000 ? first : await lateMs()).toBeLessThan(1_000);
  });
});

describe('a client that does not read', () => {
  it('is told how far it is behind, and cut, with bounded memory', async () => {
    await restart({ webSocket: { queueMaxBytes: 256 * 1024, closeTimeoutMs: 200 } });
    const reader = await door.connect();
    await reader.request('slotSubscribe');
    const wire = await deafWire();
    const big = JSON.stringify('x'.repeat(64 * 1024));
    const before = keptBytes();
    let most = 0;
    for (let told = 0; told < 2_000 && door.webSocket.size === 2; told++) {
      door.feed.emit('slot', big);
      await reader.next();
      if (told % 16 === 0) most = Math.max(most, keptBytes() - before);
      reader.received.fill('');
    }
    expect(door.webSocket.size).toBe(1);
    expect(most).toBeLessThan(64 * MEBIBYTE);
    wire.socket.destroy();
  });

  it('reads why, when it reads at last', async () => {
    await restart({ webSocket: { queueMaxBytes: 64 * 1024, closeTimeoutMs: 5_000 } });
    const wire = await deafWire();
    const big = JSON.stringify('x'.repeat(64 * 1024));
    const { promise: cut, resolve } = Promise.withResolvers<void>();
    const opening = door.feed.openings[0];
    const tell = (): void => {
      for (let told = 0; told < 20; told++) door.feed.emit('slot', big);
      if (door.gateway.topics > 0 && opening !== undefined && door.usage.snapshot().length < 2)
        setImmediate(tell);
      else resolve();
    };
    tell();
    await cut;
    wire.socket.resume();
    const { code, reason } = closeOf(await untilTail(wire, 'bytes behind)'));
    expect(code).toBe(1013);
    expect(door.connections.lagged).toBe(1);
    expect(reason).toMatch(
      /^LAGGING: The client reads messages too slowly: read faster or subscribe to less \(\d+ bytes behind\)$/,
    );
    wire.socket.destroy();
  });

  it('may fall behind within the limit, and then hears all', async () => {
    const wire = await deafWire();
    const big = JSON.stringify('x'.repeat(64 * 1024));
    for (let told = 0; told < 100; told++) door.feed.emit('slot', big);
    door.feed.emit('slot', '"end"');
    wire.socket.resume();
    const received = await untilTail(wire, '"end"');
    expect(received.split('slotNotification')).toHaveLength(102);
    wire.socket.destroy();
  });

  it('does not lag because it asked for something large', async () => {
    await restart({ webSocket: { queueMaxBytes: 2 * MEBIBYTE } });
    const wire = await deafWire();
    const large = `"${'y'.repeat(10 * MEBIBYTE)}"`;
    door.answer = async () => result(large);
    wire.socket.write(clientFrame(0x81, Buffer.from(CALL)));
    await expect.poll(() => door.calls.length).toBe(1);
    for (let told = 0; told < 20; told++) door.feed.emit('slot', JSON.stringify('x'.repeat(64 * 1024)));
    door.feed.emit('slot', '"end"');
    wire.socket.resume();
    const received = await untilTail(wire, '"end"');
    expect(received.includes(large)).toBe(true);
    wire.socket.destroy();
  });

  it('may ask for nothing more while too much waits for it', async () => {
    await restart({ webSocket: { queueMaxBytes: 2 * MEBIBYTE } });
    const wire = await deafWire();
    const large = `"${'y'.repeat(10 * MEBIBYTE)}"`;
    door.answer = async () => result(large);
    wire.socket.write(clientFrame(0x81, Buffer.from(CALL)));
    await expect.poll(() => door.calls.length).toBe(1);
    wire.socket.write(clientFrame(0x81, Buffer.from(CALL)));
    wire.socket.write(clientFrame(0x89, Buffer.from('pong?')));
    wire.socket.resume();
    const received = await untilTail(wire, 'pong?');
    expect(received.includes('OVERLOADED')).toBe(true);
    expect(door.calls).toHaveLength(1);
    wire.socket.destroy();
  });

  it('is cut first when all queues together take too much', async () => {
    await restart({
      webSocket: { queuesMaxBytes: 8 * MEBIBYTE, lookIntervalMs: 50, queueMaxBytes: 64 * MEBIBYTE },
    });
    const reader = await door.connect();
    await reader.request('slotSubscribe');
    const wire = await deafWire();
    const big = JSON.stringify('x'.repeat(MEBIBYTE));
    for (let told = 0; told < 40 && door.webSocket.size === 2; told++) {
      door.feed.emit('slot', big);
      await reader.next();
    }
    wire.socket.resume();
    expect(closeOf(await untilTail(wire, 'bytes behind)')).code).toBe(1013);
    wire.socket.destroy();
    expect(await reader.request('getSlot')).toMatchObject({ id: 1 });
  });
});

describe('a client that goes quiet', () => {
  it('is pinged, and cut when it does not answer', async () => {
    await restart({
      webSocket: { pingIntervalMs: 50, pongTimeoutMs: 100, lookIntervalMs: 10, closeTimeoutMs: 100 },
    });
    const wire = await door.upgradedClient();
    const received = Buffer.from(await wire.ended(), 'latin1');
    expect(received.subarray(0, 2)).toEqual(Buffer.from([0x89, 0]));
    expect(closeOf(wire.received)).toEqual({
      code: 1001,
      reason: 'UNRESPONSIVE: The client did not answer a ping',
    });
    await gone();
  });

  it('stays while it answers pings', async () => {
    await restart({ webSocket: { pingIntervalMs: 30, pongTimeoutMs: 60, lookIntervalMs: 10 } });
    const clock = heldClock();
    const client = await door.connect();
    for (let count = 0; count < 8; count++) {
      clock.nowMs += 30;
      await once(client.socket, 'ping');
    }
    expect(await client.request('getSlot')).toMatchObject({ id: 1 });
  });

  it('is closed when it has no subscription and sends nothing', async () => {
    await restart({ webSocket: { idleTimeoutMs: 100, lookIntervalMs: 10 } });
    const client = await door.connect();
    expect(await client.closed).toEqual({
      code: 1000,
      reason: 'IDLE: Idle timeout: subscribe or send a ping to keep the connection open',
    });
  });

  it('stays while it has a subscription, a call under way, or pings', async () => {
    await restart({ webSocket: { idleTimeoutMs: 150, lookIntervalMs: 10 } });
    const clock = heldClock();
    door.answer = () => new Promise(() => {});
    const [subscribed, calling, pinging, idle] = [
      await door.connect(),
      await door.connect(),
      await door.connect(),
      await door.connect(),
    ];
    await subscribed.request('slotSubscribe');
    calling.send('getSlot');
    await expect.poll(() => door.calls.length).toBe(1);
    for (let others = 0; others < 2; others++) {
      const other = others === 0 ? idle : await door.connect();
      for (let pings = 0; pings < 2; pings++) {
        clock.nowMs += 100;
        pinging.socket.ping();
        await once(pinging.socket, 'pong');
      }
      await other.closed;
    }
    await expect.poll(() => door.webSocket.size).toBe(3);
    await subscribed.request('slotUnsubscribe', [1]);
    clock.nowMs += 150;
    await Promise.all([subscribed.closed, pinging.closed]);
    calling.socket.terminate();
  });
});

describe('bytes that are no frame of a client', () => {
  const faults: [string, Buffer, number, string][] = [
    ['garbage', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 1002, 'The bytes are not'],
    ['no mask', Buffer.from([0x81, 2, 0x7b, 0x7d]), 1002, 'The bytes are not'],
    ['reserved bits', Buffer.from([0xc1, 0x80, 0, 0, 0, 0]), 1002, 'The bytes are not'],
    ['an unknown opcode', Buffer.from([0x83, 0x80, 0, 0, 0, 0]), 1002, 'The bytes are not'],
    ['a fragment of nothing', clientFrame(0x80, Buffer.from('x')), 1002, 'The bytes are not'],
    ['a ping in fragments', clientFrame(0x09, Buffer.from('x')), 1002, 'The bytes are not'],
    ['a ping that is too long', clientFrame(0x89, Buffer.alloc(126)), 1002, 'The bytes are not'],
    ['text that is not UTF-8', clientFrame(0x81, Buffer.from([0xff, 0xfe])), 1007, 'Parse error'],
    ['a close code that means nothing', clientFrame(0x88, Buffer.from([0, 5])), 1002, 'The bytes are not'],
  ];
  it.each(faults)('such as %s end the connection', async (_, bytes, code, reason) => {
    const wire = await door.upgradedClient();
    wire.socket.write(bytes);
    const close = closeOf(await wire.ended());
    expect(close.code).toBe(code);
    expect(close.reason).toContain(reason);
    await gone();
    expect(door.lines).toEqual([]);
  });

  it('of any kind, in any pieces, harm nobody else', async () => {
    const witness = await door.connect();
    const frame = fc
      .tuple(fc.constantFrom(0x01, 0x02, 0x00, 0x80, 0x81, 0x82, 0x88, 0x89, 0x8a, 0xf1), fc.uint8Array())
      .map(([first, payload]) => clientFrame(first, Buffer.from(payload)));
    const call = fc
      .constantFrom(CALL, SUBSCRIBE, '[]', '{')
      .map((text) => clientFrame(0x81, Buffer.from(text)));
    const garbage = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    const stream = fc.array(fc.oneof(call, frame, garbage), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(stream, fc.integer({ min: 1, max: 300 }), async (frames, piece) => {
        const wire = await door.upgradedClient();
        const bytes = Buffer.concat(frames);
        for (let at = 0; at < bytes.length; at += piece) wire.socket.write(bytes.subarray(at, at + piece));
        wire.socket.end();
        await wire.ended();
        expect(await witness.request('getSlot')).toMatchObject({ id: 1 });
      }),
      { numRuns: 60 },
    );
    await expect.poll(() => door.webSocket.size).toBe(1);
    expect(door.lines).toEqual([]);
  });

  it('that go on without end are not kept', async () => {
    await restart({ webSocket: { closeTimeoutMs: 300 } });
    const wire = await door.upgradedClient();
    // Goes on writing when the other side has said its last.
    wire.socket.allowHalfOpen = true;
    const garbage = Buffer.alloc(MEBIBYTE, 0xff);
    const before = keptBytes();
    let most = 0;
    const ended = wire.ended();
    for (let written = 1; !wire.closed && wire.socket.writable; written++) {
      if (!wire.socket.write(garbage))
        await Promise.race([once(wire.socket, 'drain').catch(() => {}), ended]);
      if (written % 16 === 0) most = Math.max(most, keptBytes() - before);
    }
    await gone();
    expect(most).toBeLessThan(64 * MEBIBYTE);
  });
});

describe('a message that is too large', () => {
  const limits = { wsMessageMaxBytes: 2_000 };
  const tooLarge = {
    code: 1009,
    reason: expect.stringMatching(/^MESSAGE_TOO_LARGE: The message is larger than this key may send/),
  };

  it('is refused by the limit of the plan, one byte above it', async () => {
    const client = await door.connect(door.createKey(limits));
    client.socket.send(CALL.padEnd(2_000));
    expect(await client.nextJson()).toMatchObject({ id: 1 });
    client.socket.send(CALL.padEnd(2_001));
    expect(await client.closed).toEqual(tooLarge);
    expect(door.calls).toHaveLength(1);
  });

  it('is refused by its announced length, before it was sent', async () => {
    const wire = await door.upgradedClient(door.createKey(limits));
    wire.socket.write(Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0]));
    expect(closeOf(await wire.ended())).toEqual(tooLarge);
  });

  it('is refused in fragments too, however many they are', async () => {
    const inLength = await door.upgradedClient(door.createKey(limits));
    inLength.socket.write(clientFrame(0x01, Buffer.alloc(1_500, 0x20)));
    inLength.socket.write(clientFrame(0x00, Buffer.alloc(1_500, 0x20)));
    expect(closeOf(await inLength.ended())).toEqual(tooLarge);

    const inNumber = await door.upgradedClient();
    inNumber.socket.write(clientFrame(0x01, Buffer.from(' ')));
    inNumber.socket.write(
      Buffer.concat(Array.from({ length: 500 }, () => clientFrame(0x00, Buffer.from(' ')))),
    );
    expect(closeOf(await inNumber.ended())).toEqual(tooLarge);
  });

  it('is taken for one when it comes in tiny pieces, each of which takes room of its own', async () => {
    const wire = await door.upgradedClient(door.createKey(limits));
    wire.socket.setNoDelay(true);
    const bytes = clientFrame(0x81, Buffer.alloc(2_000, 0x20));
    for (let at = 0; at < bytes.length - 1 && wire.socket.writable && wire.received === ''; at++) {
      wire.socket.write(bytes.subarray(at, at + 1));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
    }
    expect(closeOf(await wire.ended())).toEqual(tooLarge);
  });

  it('may come in fragments, with pings between them', async () => {
    const wire = await door.upgradedClient();
    const half = 20;
    wire.socket.write(clientFrame(0x01, Buffer.from(CALL.slice(0, half))));
    wire.socket.write(clientFrame(0x89, Buffer.from('ping')));
    wire.socket.write(clientFrame(0x80, Buffer.from(CALL.slice(half))));
    const received = await wire.until(/"id":1}$/);
    expect(received).toContain('\x8a\x04ping');
    wire.socket.destroy();
  });
});

it('answers the latest ping with its content, after a flood of them that held nothing', async () => {
  await restart({ webSocket: { queueMaxBytes: 128 * 1024 } });
  const wire = await door.upgradedClient();
  wire.socket.pause();
  const empty = clientFrame(0x89, Buffer.alloc(0));
  wire.socket.write(Buffer.concat(Array.from({ length: 9_000 }, () => empty)));
  wire.socket.write(clientFrame(0x89, Buffer.from('the latest')));
  wire.socket.resume();
  const received = await untilTail(wire, '\x8a\x0athe latest');
  // One for each piece in which the pings came, and not for each ping.
  expect(received.length).toBeLessThan(2_000);
  expect(door.webSocket.size).toBe(1);
  wire.socket.destroy();
});

describe('draining', () => {
  it('tells every connection to come again, and ends when they have gone', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => door.connect()));
    await Promise.all(clients.map((client) => client.request('slotSubscribe')));
    const before = performance.now();
    const drained = door.http.drain(10_000);
    const endings = await Promise.all(clients.map(({ closed }) => closed));
    // Nothing was under way, so that they are told at once and not at the end of the grace.
    expect(performance.now() - before).toBeLessThan(3_000);
    const told = { code: 1012, reason: 'DRAINING: This server is restarting: reconnect' };
    expect(endings).toEqual(Array(20).fill(told));
    expect(await drained).toBe(true);
  });

  it('lets calls under way be answered first', async () => {
    const slow = Promise.withResolvers<void>();
    door.answer = async () => {
      await slow.promise;
      return result('"late"');
    };
    const client = await door.connect();
    client.send('getSlot');
    await expect.poll(() => door.calls.length).toBe(1);
    const drained = door.http.drain(10_000);
    slow.resolve();
    expect(await client.nextJson()).toMatchObject({ result: 'late' });
    expect((await client.closed).code).toBe(1012);
    expect(await drained).toBe(true);
  });

  it('takes no new connections, already while load balancers take notice', async () => {
    const path = `/v1/ws?api-key=${door.createKey()}`;
    const drained = door.http.drain(1_000, 200);
    expect(await door.refusal(path)).toMatchObject({
      status: 503,
      body: { error: { data: { code: 'DRAINING' } } },
    });
    await drained;
  });

  it('cuts who does not go in time', async () => {
    door.answer = () => new Promise(() => {});
    const stubborn = await door.upgradedClient();
    const calling = await door.connect();
    calling.send('getSlot');
    await expect.poll(() => door.calls.length).toBe(1);
    expect(await door.http.drain(500)).toBe(false);
    expect(closeOf(await stubborn.ended()).code).toBe(1012);
    expect((await calling.closed).code).toBe(1012);
  });
});

it('goes on with the others when one breaks', async () => {
  const clients: Client[] = [await door.connect(), await door.connect()];
  for (const client of clients) await client.request('slotSubscribe');
  clients[0]?.socket.terminate();
  door.feed.emit('slot', '7');
  expect(await clients[1]?.nextJson()).toMatchObject({ params: { result: 7 } });
});

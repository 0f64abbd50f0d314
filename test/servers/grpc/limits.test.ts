import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { encodeFrame } from '../../../src/protocol/grpc/frames.ts';
import type { GrpcServerOptions } from '../../../src/servers/grpc/options.ts';
import { type FakeGeyserStream, NONE, type RawCall, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

const GET_SLOT = '/geyser.Geyser/GetSlot';
const WATCH = '/grpc.health.v1.Health/Watch';
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

let stage: TestGrpcServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await stage.stop();
});

async function start(options: Partial<GrpcServerOptions> = {}): Promise<TestGrpcServer> {
  stage = await new TestGrpcServer(options).listen();
  return stage;
}

function wire(): Socket {
  const socket = connect(stage.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  sockets.push(socket);
  return socket;
}

const closed = (socket: Socket): Promise<unknown> =>
  socket.destroyed ? Promise.resolve() : once(socket, 'close');

/** An HTTP/2 frame. Source: RFC 9113 §4.1. */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Header block with literals without indexing. Source: RFC 7541 §6.2.2. */
function headerBlock(headers: Record<string, string>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  return Buffer.concat(
    Object.entries(headers).map(([name, value]) => Buffer.concat([Buffer.of(0), text(name), text(value)])),
  );
}

const SETTINGS = frame(4, 0, 0);
const call = headerBlock({
  ':method': 'POST',
  ':scheme': 'http',
  ':path': SUBSCRIBE,
  ':authority': 'x',
  'content-type': 'application/grpc',
  'x-token': 'svc_grpc_live_open',
});

function fill({ sink }: FakeGeyserStream, messages: number, size = 1_000): void {
  for (let i = 0; i < messages; i++) sink.push(NONE, Buffer.alloc(size, i));
}

/** Sends to all streams in rounds, each after the fast readers have received the previous one. */
async function publish(streams: readonly FakeGeyserStream[], calls: readonly RawCall[], turns: number) {
  for (let i = 0; i < turns; i++) {
    const message = Buffer.alloc(10_000, i);
    for (const { sink } of streams) sink.push(NONE, message);
    await Promise.all(calls.map((one) => one.next()));
  }
}

describe('a client that does not close its side of the connection', () => {
  it('occupies no connection slot after the server has closed, and does not delay draining', async () => {
    await start({ idleTimeoutMs: 300, keepaliveIntervalMs: 400, keepaliveTimeoutMs: 400 });
    const greet = (): Socket => {
      const socket = connect({ port: stage.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => {}).resume();
      sockets.push(socket);
      socket.write(Buffer.concat([PREFACE, SETTINGS, frame(4, 1, 0), frame(1, 5, 1, call)]));
      return socket;
    };
    const idle = greet();
    await once(idle, 'end');
    await expect.poll(() => stage.server.connections, { timeout: 5_000 }).toBe(0);
    await once(greet(), 'data');
    expect(await stage.server.drain(5_000)).toBe(true);
  });
});

describe('a slow reader', () => {
  it('is disconnected with its lag, while other clients lose nothing', async () => {
    await start({ queueMaxBytes: 300_000 });
    const quick = [stage.call(SUBSCRIBE), stage.call(SUBSCRIBE), stage.call(SUBSCRIBE)];
    const slow = stage.call(SUBSCRIBE);
    const streams = await Promise.all([0, 1, 2, 3].map((nth) => stage.stream(nth)));
    await Promise.all([...quick, slow].map((one) => one.next()));
    slow.stream.pause();
    await publish(streams, quick, 100);
    slow.stream.resume();
    const ended = await slow.ended();
    expect(ended).toMatchObject({
      'grpc-status': '13',
      'grpc-message': expect.stringMatching(/^lagged to send an update: \d+ messages, \d+ bytes behind$/),
      'x-error-code': 'LAGGING',
    });
    const [messages = 0, bytes = 0] = (String(ended['grpc-message']).match(/\d+/g) ?? []).map(Number);
    expect(bytes).toBeGreaterThan(300_000);
    expect(messages).toBeGreaterThan(10);
    for (const one of quick)
      expect(one.messages.slice(1).map((message) => message[0])).toEqual([...Array(100).keys()]);
    expect(stage.server.streams).toBe(3);
    expect(streams.map(({ lags }) => lags)).toEqual([0, 0, 0, 1]);
  });

  it('is also disconnected for too many queued messages', async () => {
    await start({ queueMaxMessages: 10 });
    const slow = stage.call(SUBSCRIBE);
    fill(await stage.stream(), 12, 1);
    expect(await slow.ended()).toMatchObject({
      'grpc-message': expect.stringMatching(/^lagged to send an update: 11 messages, 8\d bytes behind$/),
    });
  });

  it('is also disconnected if its updates wait in another queue', async () => {
    await start();
    const slow = stage.call(SUBSCRIBE);
    const stream = await stage.stream();
    stream.sink.push(NONE, Buffer.from('last'));
    const behind = { messages: 12, bytes: 3_456, blocks: 2 };
    stream.sink.lag(behind);
    stream.sink.lag(behind);
    const ended = await slow.ended();
    expect(ended).toMatchObject({
      'grpc-status': '13',
      'grpc-message': 'lagged to send an update: 12 messages, 3456 bytes behind',
      'x-error-code': 'LAGGING',
    });
    expect(JSON.parse(String(ended['x-error-facts']))).toMatchObject(behind);
    expect(slow.messages.at(-1)?.toString()).toBe('last');
    expect(stream.lags).toBe(1);
  });

  it('that stopped reading does not delay the end of its stream', async () => {
    await start({ endTimeoutMs: 50, queueMaxBytes: 200_000 });
    const slow = stage.call(SUBSCRIBE);
    const stream = await stage.stream();
    await slow.next();
    slow.stream.pause();
    fill(stream, 1_000);
    await stream.until((one) => one.closed === 1);
    slow.stream.resume();
    expect(await slow.ended()).toMatchObject({ reset: expect.any(Number) });
    expect(stage.server.streams).toBe(0);
  });

  it('is disconnected first when all queues together exceed the limit', async () => {
    await start({ queuesMaxBytes: 400_000 });
    const slow = stage.call(SUBSCRIBE);
    const other = stage.call(SUBSCRIBE);
    const [first, second] = [await stage.stream(0), await stage.stream(1)];
    await Promise.all([slow.next(), other.next()]);
    fill(first, 500);
    fill(second, 50);
    await first.until(({ closed: times }) => times === 1);
    expect((await slow.ended())['x-error-code']).toBe('LAGGING');
    for (let i = 0; i < 50; i++) await other.next();
    expect(second.closed).toBe(0);
  });
});

describe('a silent client', () => {
  it.each([
    ['sends nothing', Buffer.alloc(0)],
    ['uses another protocol', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['makes no call', Buffer.concat([PREFACE, SETTINGS])],
  ])('that %s is disconnected', async (_name, bytes) => {
    await start({ handshakeTimeoutMs: 50, firstCallTimeoutMs: 100 });
    const socket = wire();
    socket.write(bytes);
    await closed(socket);
    expect(stage.server.connections).toBe(0);
  });

  it('is disconnected after the idle timeout', async () => {
    await start({ idleTimeoutMs: 60 });
    const session = stage.session();
    await stage.call(GET_SLOT, {}, session).end(NONE).ended();
    await once(session, 'close');
  });

  it('gets a timeout error for a missing or partial request', async () => {
    await start({ requestTimeoutMs: 60 });
    const late = { 'grpc-status': '4', 'x-error-code': 'REQUEST_TIMEOUT' };
    expect(await stage.call(GET_SLOT).ended()).toMatchObject(late);
    const half = stage.call(SUBSCRIBE);
    await half.next();
    half.stream.write(Buffer.of(0, 0, 0));
    expect(await half.ended()).toMatchObject(late);
  });

  it('is disconnected if it does not answer an HTTP/2 ping', async () => {
    await start({ keepaliveIntervalMs: 40, keepaliveTimeoutMs: 40 });
    const socket = wire();
    socket.write(Buffer.concat([PREFACE, SETTINGS, frame(4, 1, 0), frame(1, 4, 1, call)]));
    const stream = await stage.stream();
    await closed(socket);
    await stream.until((one) => one.closed === 1);
  });
});

describe('a flooding client', () => {
  const data = (...bytes: number[]): Buffer => frame(0, 0, 1, Buffer.from(bytes));

  it.each([
    ['pings', [], frame(6, 0, 0, Buffer.alloc(8))],
    ['settings', [], SETTINGS],
    ['bytes of a message, sent one by one', [data(0, 0, 1, 0, 0)], data(10)],
  ])('is disconnected for too many %s', async (_name, before, bytes) => {
    await start({ controlFramesPerSecondMax: 100 });
    const socket = wire();
    socket.write(Buffer.concat([PREFACE, SETTINGS, frame(1, 4, 1, call)]));
    await stage.stream();
    socket.write(Buffer.concat([...before, ...Array(500).fill(bytes)]));
    await closed(socket);
    expect(stage.server.streams).toBe(0);
  });

  it('is distinguished from a client with many small messages, even with separate headers', async () => {
    await start({ controlFramesPerSecondMax: 100 });
    const one = stage.call(SUBSCRIBE);
    const message = encodeFrame(encodeSubscribeRequest({ ping: 1 }));
    await one.next();
    for (let i = 0; i < 300; i++) {
      one.stream.write(message.subarray(0, 5));
      one.stream.write(message.subarray(5));
      await one.next();
    }
    expect(one.isClosed).toBe(false);
  });

  it('is rejected for large headers', async () => {
    await start({ headerListMaxBytes: 4_096 });
    const large = { large: 'x'.repeat(8_000) };
    expect(await stage.call(SUBSCRIBE, large).ended()).toMatchObject({ 'x-error-code': 'HEADERS_TOO_LARGE' });
    expect(stage.opened.length).toBe(0);
  });
});

describe('resource limits', () => {
  it('limit connections per address', async () => {
    await start({ connectionsPerAddressMax: 2, connectionsExempt: [] });
    const [first, second] = [stage.call(SUBSCRIBE), stage.call(SUBSCRIBE)];
    await Promise.all([first.next(), second.next()]);
    const third = wire();
    await new Promise((resolve) => third.once('close', resolve));
    expect(stage.server.connections).toBe(2);
  });

  it('limit streams, calls and request bytes', async () => {
    await start({ streamsMax: 1, unaryInFlightMax: 1, requestsMaxBytes: 1_000 });
    const overloaded = { 'grpc-status': '8', 'x-error-code': 'OVERLOADED', 'retry-after': '1' };
    const one = stage.call(SUBSCRIBE);
    await one.next();
    expect(await stage.call(SUBSCRIBE).ended()).toMatchObject(overloaded);
    stage.unary = () => new Promise(() => {});
    const pending = stage.call(GET_SLOT).end(NONE);
    await once(pending.stream, 'finish');
    expect(await stage.call(GET_SLOT).end(NONE).ended()).toMatchObject(overloaded);
    one.stream.write(Buffer.concat([Buffer.of(0, 0, 0, 8, 0), Buffer.alloc(1_500)]));
    expect(await one.ended()).toMatchObject(overloaded);
    expect(stage.server.streams).toBe(0);
  });

  it('limit streams without a key separately, with few per connection and a maximum age', async () => {
    await start({
      ...{ streamsMax: 1, keylessStreamsMax: 3, keylessStreamsPerConnectionMax: 2 },
      keylessStreamMaxMs: 400,
    });
    let nowMs = Math.ceil(performance.now());
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    onTestFinished(() => clock.mockRestore());
    const reflection = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    const keyless = { 'x-token': '' };
    const overloaded = { 'grpc-status': '8', 'x-error-code': 'OVERLOADED' };
    const session = stage.session();
    const watch = stage.call(WATCH, keyless, session).end(NONE);
    await watch.next();
    const requests = stage.call(reflection, keyless, session).send(Buffer.of(0x3a, 0));
    await requests.next();
    expect(await stage.call(WATCH, keyless, session).end(NONE).ended()).toMatchObject(overloaded);
    await stage.call(WATCH, keyless).end(NONE).next();
    expect(await stage.call(WATCH, keyless).end(NONE).ended()).toMatchObject(overloaded);
    await stage.call(SUBSCRIBE).next();
    nowMs += 400;
    for (const one of [watch, requests]) expect(await one.ended()).toMatchObject({ 'grpc-status': '14' });
    await stage.call(WATCH, keyless, session).end(NONE).next();
  });
});

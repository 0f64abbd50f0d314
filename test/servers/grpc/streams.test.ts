import { randomBytes } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { SubscribeRequest, SubscribeUpdate, SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';
import { encodeNames } from '../../../src/protocol/geyser/encode/envelope.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { GrpcError } from '../../../src/protocol/grpc/status.ts';
import type { GrpcServerOptions } from '../../../src/servers/grpc/options.ts';
import { compileFilters } from '../../../src/streams/geyser/filters/compile.ts';
import { namesIn } from '../../streams/random-updates.ts';
import { type FakeGeyserStream, NONE, type RawCall, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

const DESHRED = '/geyser.Geyser/SubscribeDeshred';
const ENTRIES = '/shredstream.ShredstreamProxy/SubscribeEntries';

let stage: TestGrpcServer;
afterEach(() => stage.stop());

async function start(options: Partial<GrpcServerOptions> = {}): Promise<TestGrpcServer> {
  stage = await new TestGrpcServer(options).listen();
  return stage;
}

const slots = (...names: string[]): Uint8Array =>
  encodeSubscribeRequest({ slots: new Map(names.map((name) => [name, {}])) });

describe('a stream', () => {
  it('sends headers and a ping immediately, and then periodic pings', async () => {
    await start({ pingIntervalMs: 30 });
    const call = stage.call(SUBSCRIBE);
    for (let i = 0; i < 3; i++) {
      const update = SubscribeUpdate.decode(await call.next());
      expect(update).toMatchObject({ ping: {}, filters: [] });
      expect(Math.abs((update.createdAt?.getTime() ?? 0) - Date.now())).toBeLessThan(5_000);
    }
    expect(call.headers).toMatchObject({ ':status': 200, 'grpc-accept-encoding': 'identity,gzip,zstd' });
  });

  it('answers a ping request with a pong, and ignores the rest of that request', async () => {
    await start();
    const call = stage.call(SUBSCRIBE).send(encodeSubscribeRequest({ ping: -7, blocksMeta: ['m'] }));
    await call.next();
    expect(SubscribeUpdate.decode(await call.next())).toMatchObject({ pong: { id: -7 } });
    expect((await stage.stream()).requests).toEqual([]);
    const deshred = stage.call(DESHRED).send(Buffer.of(0x12, 2, 8, 9));
    expect(SubscribeUpdateDeshred.decode(await deshred.next())).toMatchObject({ ping: {} });
    expect(SubscribeUpdateDeshred.decode(await deshred.next())).toMatchObject({ pong: { id: 9 } });
  });

  it('sends filter names and payload as one message, in order', async () => {
    await start();
    const call = stage.call(SUBSCRIBE);
    const { sink } = await stage.stream();
    await call.next();
    const large = Buffer.alloc(300_000, 7);
    const messages = [1, 2, 3, 70_000, 3, 20_000].map((length, i) => Buffer.alloc(length, i));
    for (const message of messages) sink.push(message.subarray(0, 1), message.subarray(1));
    sink.push(large.subarray(0, 60_000), large.subarray(60_000));
    for (const message of messages) expect((await call.next()).equals(message)).toBe(true);
    expect((await call.next()).equals(large)).toBe(true);
  });

  it('applies only the newest of the waiting requests', async () => {
    await start();
    const call = stage.call(SUBSCRIBE);
    const stream = await stage.stream();
    let go: () => void = () => {};
    stream.onRequest = () =>
      new Promise((resolve) => {
        go = resolve;
      });
    call.send(slots('a'));
    await stream.until(({ requests }) => requests.length === 1);
    call
      .send(slots('b'))
      .send(slots('c'))
      .send(encodeSubscribeRequest({ ping: 1 }));
    await call.next();
    await call.next();
    go();
    await stream.until(({ requests }) => requests.length === 2);
    expect(stream.requests).toMatchObject([{ slots: new Map([['a', {}]]) }, { slots: new Map([['c', {}]]) }]);
    expect(stream.receivedMessages).toBe(4);
  });

  it('continues after the client has half-closed', async () => {
    await start();
    const call = stage.call(SUBSCRIBE).end(slots('a'));
    const stream = await stage.stream();
    await stream.until(({ requests }) => requests.length === 1);
    await call.next();
    stream.sink.push(NONE, Buffer.from('more'));
    expect(String(await call.next())).toBe('more');
    expect(stream.closed).toBe(0);
  });

  it('of entries accepts exactly one empty request, and sends no pings', async () => {
    await start({ pingIntervalMs: 20 });
    const call = stage.call(ENTRIES).end(NONE);
    const stream = await stage.stream();
    expect(stream.rpc).toBe('SubscribeEntries');
    stream.sink.push(NONE, Buffer.from('entry'));
    expect(String(await call.next())).toBe('entry');
    expect(await stage.call(ENTRIES).send(NONE).send(NONE).ended()).toMatchObject({ 'grpc-status': '12' });
    expect(await stage.call(ENTRIES).end().ended()).toMatchObject({ 'grpc-status': '12' });
    expect(call.messages.length).toBe(1);
  });

  it('is counted, and closed when its client cancels or disconnects', async () => {
    await start();
    const session = stage.session();
    const call = stage.call(SUBSCRIBE, {}, session);
    const other = stage.call(SUBSCRIBE, {}, session);
    const [first, second] = [await stage.stream(0), await stage.stream(1)];
    await call.next();
    await other.next();
    expect(stage.server.streams).toBe(2);
    call.cancel();
    await first.until(({ closed }) => closed === 1);
    session.destroy();
    await second.until(({ closed }) => closed === 1);
    expect(first.messages).toBe(1);
    expect([first.closed, second.closed, stage.server.streams, stage.server.queuedBytes]).toEqual([
      1, 1, 0, 0,
    ]);
  });

  it('ends with the error of its handler or request, after queued updates', async () => {
    await start();
    const call = stage.call(SUBSCRIBE);
    const stream = await stage.stream();
    stream.onRequest = async () => {
      for (let i = 0; i < 1_000; i++) stream.sink.push(NONE, Buffer.alloc(1_000, i));
      throw new GrpcError('INVALID_ARGUMENT', 'failed to create filter: data too large');
    };
    call.send(slots('a'));
    expect(await call.ended()).toMatchObject({
      'grpc-status': '3',
      'grpc-message': 'failed to create filter: data too large',
    });
    expect(call.messages.length).toBe(1_001);
    await stream.until(({ closed }) => closed === 1);
    expect(stream.messages).toBe(1_001);

    const revoked = stage.call(SUBSCRIBE);
    await revoked.next();
    (await stage.stream(1)).onEnd(new Failure('INVALID_KEY'));
    expect(await revoked.ended()).toMatchObject({ 'grpc-status': '16', 'x-error-code': 'INVALID_KEY' });

    const ended = stage.call(SUBSCRIBE);
    const third = await stage.stream(2);
    third.sink.push(NONE, Buffer.from('last'));
    third.sink.end({ code: 'INTERNAL', message: 'a fault of the source' });
    third.sink.push(NONE, Buffer.from('late'));
    expect(await ended.ended()).toMatchObject({ 'grpc-status': '13' });
    expect(ended.messages.map(String).slice(1)).toEqual(['last']);
  });

  it('names the invalid filter, field and value', async () => {
    await start();
    const x = 'x'.repeat(1_000);
    const requestWith = (key: string, value: unknown): Uint8Array =>
      SubscribeRequest.encode(SubscribeRequest.fromPartial({ [key]: value } as never)).finish();
    const cases: readonly [wire: Uint8Array, text: string, facts: object][] = [
      [
        requestWith('accounts', {
          fine: {},
          mine: { account: ['nonsense', 'worse'] },
          late: { owner: ['0'] },
        }),
        'String is the wrong size',
        { filter: 'accounts', name: 'mine', field: 'account', value: 'nonsense' },
      ],
      [
        requestWith('commitment', 7),
        'failed to create CommitmentLevel from 7',
        { field: 'commitment', value: 7 },
      ],
      [
        slots(x),
        'oversized filter name (max allowed size 128), found 1000',
        { filter: 'slots', name: x.slice(0, 64) },
      ],
    ];
    for (const [nth, [wire, text, facts]] of cases.entries()) {
      const call = stage.call(SUBSCRIBE);
      (await stage.stream(nth)).onRequest = async (request) => void compileFilters(request);
      const ended = await call.send(wire).ended();
      expect(ended).toMatchObject({ 'grpc-status': '3', 'grpc-message': `failed to create filter: ${text}` });
      expect(ended['x-error-code']).toBeUndefined();
      expect(JSON.parse(String(ended['x-error-facts'] ?? null))).toEqual(facts);
    }
  });

  it('is rejected without messages if its handler rejects it', async () => {
    await start();
    const call = stage.call(SUBSCRIBE, { 'x-token': '' });
    expect(await call.ended()).toMatchObject({
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': '16',
      'x-error-code': 'MISSING_KEY',
    });
    stage.onOpen = () => {
      throw new Failure('UNAUTHORIZED_PRODUCT');
    };
    expect(await stage.call(SUBSCRIBE).ended()).toMatchObject({ 'grpc-status': '7' });
    expect(stage.server.streams).toBe(0);
  });

  it('ends at its deadline, and on an invalid request', async () => {
    await start();
    expect(await stage.call(SUBSCRIBE, { 'grpc-timeout': '50m' }).ended()).toMatchObject({
      'grpc-status': '4',
    });
    expect(await stage.call(SUBSCRIBE).send(Buffer.of(0xff)).ended()).toMatchObject({
      'grpc-status': '13',
      'grpc-message': 'failed to decode Protobuf message',
    });
  });

  it('stops reading while a client sends requests too fast, and ends on a flood', async () => {
    await start();
    const call = stage.call(SUBSCRIBE);
    const stream = await stage.stream();
    stream.restMs = 50;
    const begin = performance.now();
    call.send(slots('a'));
    await stream.until(({ requests }) => requests.length === 1);
    call.send(slots('b'));
    await stream.until(({ requests }) => requests.length === 2);
    expect(performance.now() - begin).toBeGreaterThan(40);
    stream.restMs = Number.POSITIVE_INFINITY;
    call.send(slots('c'));
    expect(await call.ended()).toMatchObject({ 'grpc-status': '8', 'x-error-code': 'RATE_LIMITED' });
  });
});

const HEAD_BYTES = 5;
const SIZE = 10_000;

function push({ sink }: FakeGeyserStream, messages: number): void {
  for (let i = 0; i < messages; i++) sink.push(NONE, Buffer.alloc(SIZE, i));
}

describe('the bytes sent on a stream', () => {
  it.each(['identity', 'gzip', 'zstd'])('are counted uncompressed until the end: %s', async (encoding) => {
    await start({ compression: 'accepted', flushDelayMs: 0 });
    const call = stage.call(SUBSCRIBE, { 'grpc-accept-encoding': encoding });
    const stream = await stage.stream();
    const { length } = await call.next();
    expect(call.headers?.['grpc-encoding'] ?? 'identity').toBe(encoding);
    push(stream, 30);
    for (let i = 0; i < 30; i++) await call.next();
    push(stream, 70);
    stream.sink.end({ code: 'OK', message: '' });
    expect(await call.ended()).toMatchObject({ 'grpc-status': '0' });
    await stream.until(({ messages }) => messages === 101);
    expect(stream.bytes).toBe(HEAD_BYTES + length + 100 * (HEAD_BYTES + SIZE));
  });

  it('exclude messages that the client never received', async () => {
    await start({ endTimeoutMs: 50 });
    const call = stage.call(SUBSCRIBE);
    const stream = await stage.stream();
    await call.next();
    call.stream.pause();
    push(stream, 1_000);
    stream.sink.end({ code: 'OK', message: '' });
    await stage.server.drain(5_000, 0);
    await stream.until(({ messages, closed }) => messages > 1 && closed === 1);
    expect(stream.messages).toBeLessThan(100);
    expect(stream.bytes).toBeLessThan(100 * SIZE);
  });
});

const encodings = ['identity', 'gzip', 'zstd'] as const;
const headersOf = (encoding: string): Record<string, string> =>
  encoding === 'identity' ? {} : { 'grpc-encoding': encoding, 'grpc-accept-encoding': encoding };

async function two(headers: Record<string, string>, options: Partial<GrpcServerOptions> = {}) {
  stage = await new TestGrpcServer({ flushDelayMs: 0, ...options }).listen();
  const calls: RawCall[] = [];
  for (let nth = 0; nth < 2; nth++) {
    const call = stage.call(SUBSCRIBE, headers);
    await stage.stream(nth);
    await call.next();
    calls.push(call);
  }
  const sinks = [(await stage.stream(0)).sink, (await stage.stream(1)).sink] as const;
  return { calls: calls as [RawCall, RawCall], sinks };
}

const tail = Buffer.alloc(3_000, 0xff);

/** Streams share encoded batches, but no stream may receive another's messages. */
describe('streams with the same update in the same batch', () => {
  const theirs = [encodeNames(['mine', 'both']), encodeNames(['yours', 'two'])] as const;

  it.each(encodings)('receive their own filter names: %s', async (encoding) => {
    const { calls, sinks } = await two(headersOf(encoding));
    for (const order of [
      [0, 1],
      [1, 0],
      [0, 1],
    ] as const) {
      for (const at of order) sinks[at].push(theirs[at], tail);
      const [first, second] = [await calls[0].next(), await calls[1].next()];
      expect([first.length, second.length]).toEqual(theirs.map((names) => names.length + tail.length));
      expect(namesIn(first.subarray(0, theirs[0].length))).toEqual(['mine', 'both']);
      expect(namesIn(second.subarray(0, theirs[1].length))).toEqual(['yours', 'two']);
    }
  });

  it.each(encodings)('receive their own messages after a shared one: %s', async (encoding) => {
    const { calls, sinks } = await two(headersOf(encoding));
    const [names] = theirs;
    for (const at of [0, 1] as const) {
      sinks[at].push(names, tail);
      sinks[at].push(NONE, Buffer.from(`of ${at}`));
    }
    for (const at of [0, 1] as const) {
      expect((await calls[at].next()).length).toBe(names.length + tail.length);
      expect(String(await calls[at].next())).toBe(`of ${at}`);
    }
  });
});

describe('a message to a client that accepts compression', () => {
  const unpack = { gzip: gunzipSync, zstd: zstdDecompressSync };

  it.each(['gzip', 'zstd'] as const)('is compressed only if that makes it smaller: %s', async (encoding) => {
    const { calls, sinks } = await two(headersOf(encoding));
    const pieces: Buffer[] = [];
    calls[0].stream.on('data', (piece: Buffer) => pieces.push(piece));
    const noise = randomBytes(4_000);
    for (const message of [noise, tail]) {
      sinks[0].push(NONE, message);
      expect((await calls[0].next()).equals(message)).toBe(true);
    }
    const bytes = Buffer.concat(pieces);
    expect([bytes[0], bytes.readUInt32BE(1)]).toEqual([0, noise.length]);
    const rest = bytes.subarray(5 + noise.length);
    expect([rest[0], rest.readUInt32BE(1)]).toEqual([1, rest.length - 5]);
    expect(rest.length).toBeLessThan(tail.length / 10);
    expect(unpack[encoding](rest.subarray(5)).equals(tail)).toBe(true);
  });
});

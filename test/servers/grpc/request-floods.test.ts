import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { encodeFrame } from '../../../src/protocol/grpc/frames.ts';
import type { GrpcServerOptions } from '../../../src/servers/grpc/options.ts';
import { NONE, type RawCall, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

const GET_SLOT = '/geyser.Geyser/GetSlot';
const CHECK = '/grpc.health.v1.Health/Check';
const REFLECT = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const MIB = 1024 * 1024;
const overloaded = { 'grpc-status': '8', 'x-error-code': 'OVERLOADED' };

let stage: TestGrpcServer;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await stage.stop();
});

async function start(options: Partial<GrpcServerOptions> = {}): Promise<void> {
  stage = await new TestGrpcServer(options).listen();
}

function packed(message: Uint8Array): Buffer {
  const frame = encodeFrame(zstdCompressSync(message));
  frame[0] = 1;
  return frame;
}

async function receivedUpdates(call: RawCall): Promise<void> {
  const { session } = call.stream;
  if (session?.connecting) await once(session, 'connect');
  await new Promise<void>((resolve, reject) =>
    session?.ping((fault) => (fault === null ? resolve() : reject(fault))),
  );
}

describe('many requests in one write to a stream', () => {
  it.each([
    ['data slices', 7],
    ['filters', 1],
    ['fields', 9],
  ])('are rejected at the first one with too many %s (field %i)', async (of, field) => {
    await start({ decompressionRatioMax: 100_000 });
    const call = stage.call(SUBSCRIBE, { 'grpc-encoding': 'zstd' });
    const stream = await stage.stream();
    const bomb = packed(Buffer.alloc(4 * MIB - 64, Buffer.of(field * 8 + 2, 0)));
    call.stream.write(Buffer.concat(Array(43).fill(bomb)));
    const ended = await call.ended();
    expect(ended).toMatchObject({ 'grpc-status': '3', 'x-error-code': 'FILTER_LIMIT' });
    expect(ended['grpc-message']).toContain(`Max amount of ${of} reached`);
    expect([stream.receivedMessages, stream.requests.length]).toEqual([1, 0]);
  });

  it('are counted by their decompressed size', async () => {
    await start();
    const call = stage.call(SUBSCRIBE, { 'grpc-encoding': 'zstd' });
    const stream = await stage.stream();
    const request = encodeSubscribeRequest({ slots: new Map([['s'.repeat(100_000), {}]]) });
    call.stream.write(packed(request));
    await stream.until(({ requests }) => requests.length === 1);
    expect(stream.receivedBytes).toBeGreaterThan(100_000);
    expect(stream.receivedBytes).toBeLessThan(101_000);
  });
});

describe('a unary call', () => {
  it('is rejected without a key before its request arrives', async () => {
    await start();
    const refused = await stage.call(GET_SLOT, { 'x-token': '' }).ended();
    expect(refused).toMatchObject({ 'grpc-status': '16', 'x-error-code': 'MISSING_KEY' });
  });

  it('holds a concurrency slot from its headers on, and releases it', async () => {
    await start({ unaryInFlightMax: 1 });
    const first = stage.call(GET_SLOT);
    await receivedUpdates(first);
    expect(await stage.call(GET_SLOT).ended()).toMatchObject(overloaded);
    expect(await stage.call(CHECK).end(NONE).ended()).toMatchObject({ 'grpc-status': '0' });
    first.end(NONE);
    expect(await first.ended()).toMatchObject({ 'grpc-status': '0' });
    expect(await stage.call(GET_SLOT).end(NONE).ended()).toMatchObject({ 'grpc-status': '0' });
  });

  it('reserves memory for its request from the shared budget until it ends', async () => {
    await start({ requestsMaxBytes: 1_000 });
    const first = stage.call(GET_SLOT).send(Buffer.alloc(600));
    await receivedUpdates(first);
    await receivedUpdates(first);
    expect(await stage.call(GET_SLOT).send(Buffer.alloc(600)).ended()).toMatchObject(overloaded);
    expect(await first.end().ended()).toMatchObject({ 'grpc-status': '0' });
    expect(await stage.call(GET_SLOT).end(Buffer.alloc(600)).ended()).toMatchObject({ 'grpc-status': '0' });
  });

  it('is limited by the memory budget of its connection', async () => {
    await start({ requestsPerConnectionMaxBytes: 1_000 });
    const session = stage.session();
    const first = stage.call(GET_SLOT, {}, session).send(Buffer.alloc(600));
    await receivedUpdates(first);
    await receivedUpdates(first);
    expect(await stage.call(GET_SLOT, {}, session).send(Buffer.alloc(600)).ended()).toMatchObject(overloaded);
    expect(await stage.call(GET_SLOT).end(Buffer.alloc(600)).ended()).toMatchObject({ 'grpc-status': '0' });
  });
});

describe('a request to a method with small requests only', () => {
  it.each([GET_SLOT, CHECK, REFLECT])('is rejected when it is large (%s)', async (path) => {
    await start();
    const ended = await stage.call(path).send(Buffer.alloc(70_000)).ended();
    expect(ended).toMatchObject({ 'grpc-status': '11' });
    const small = stage.call(path, { 'grpc-encoding': 'zstd' });
    small.stream.write(packed(Buffer.alloc(70_000)));
    expect(await small.ended()).toMatchObject({ 'grpc-status': '11' });
  });
});

describe('an address that has flooded the server', () => {
  async function flood(): Promise<void> {
    const session = stage.session();
    await once(session, 'connect');
    const closed = once(session, 'close');
    const cancel = (): void => {
      if (session.closed || session.destroyed) return;
      for (let i = 0; i < 20; i++) stage.call(SUBSCRIBE, {}, session).cancel();
      setImmediate(cancel);
    };
    cancel();
    await closed;
  }

  const isClosedAtOnce = (): Promise<boolean> => {
    const socket = connect(stage.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    return new Promise((resolve) => {
      socket.once('close', () => resolve(true));
      socket.once('data', () => resolve(false));
    });
  };

  it('cannot reconnect for a while', async () => {
    await start({ cancelsBurstMax: 20, cancelsPerSecondMax: 1 });
    await flood();
    expect(await isClosedAtOnce()).toBe(true);
  });
});

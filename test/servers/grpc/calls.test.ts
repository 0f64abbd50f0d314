import { once } from 'node:events';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/protocol/errors.ts';
import { GrpcError } from '../../../src/protocol/grpc/status.ts';
import type { GrpcServerOptions } from '../../../src/servers/grpc/options.ts';
import { NONE, type RawCall, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

const GET_SLOT = '/geyser.Geyser/GetSlot';

let stage: TestGrpcServer;
afterEach(() => stage.stop());

async function start(options: Partial<GrpcServerOptions> = {}): Promise<TestGrpcServer> {
  stage = await new TestGrpcServer(options).listen();
  return stage;
}

function frame(flag: number, message: Uint8Array, length = message.length): Buffer {
  const bytes = Buffer.alloc(5 + message.length);
  bytes[0] = flag;
  bytes.writeUInt32BE(length, 1);
  bytes.set(message, 5);
  return bytes;
}

describe('a unary call', () => {
  it('returns its status in the trailers', async () => {
    await start();
    const call = stage.call(GET_SLOT).end(Buffer.from('the request'));
    expect(String(await call.next())).toBe('the request');
    expect(await call.ended()).toMatchObject({ 'grpc-status': '0', reset: 0 });
    expect(call.headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc' });
    expect(call.headers?.date).toBeUndefined();
  });

  it('accepts the key in x-token or as a bearer token', async () => {
    await start();
    const bearer = { 'x-token': '', authorization: 'Bearer svc_grpc_live_open' };
    expect(await stage.call(GET_SLOT, bearer).end(NONE).ended()).toMatchObject({ 'grpc-status': '0' });
    expect(await stage.call(GET_SLOT, { 'x-token': '' }).end(NONE).ended()).toMatchObject({
      ':status': 200,
      'grpc-status': '16',
      'grpc-message': expect.stringContaining('x-token'),
      'x-error-code': 'MISSING_KEY',
    });
    expect(await stage.call(GET_SLOT, { 'x-token': 'wrong' }).end(NONE).ended()).toMatchObject({
      'grpc-status': '16',
      'x-error-code': 'INVALID_KEY',
    });
  });

  it('returns the error code, facts and retry-after of a failure', async () => {
    await start();
    stage.unary = async () => {
      throw new Failure('RATE_LIMITED', { facts: { limit: 5, name: 'é' }, retryAfter: 1.2 });
    };
    expect(await stage.call(GET_SLOT).end(NONE).ended()).toMatchObject({
      'grpc-status': '8',
      'x-error-code': 'RATE_LIMITED',
      'x-error-facts': '{"limit":5,"name":"\\u00e9"}',
      'retry-after': '2',
    });
  });

  it('returns known gRPC errors, and hides unexpected exceptions', async () => {
    await start();
    stage.unary = async () => {
      throw new GrpcError('OUT_OF_RANGE', 'from é % on\n');
    };
    expect(await stage.call(GET_SLOT).end(NONE).ended()).toMatchObject({
      'grpc-status': '11',
      'grpc-message': 'from %C3%A9 %25 on%0A',
    });
    stage.unary = async () => {
      throw new Error('the password is xyzzy');
    };
    const ended = await stage.call(GET_SLOT).end(NONE).ended();
    expect(ended).toMatchObject({ 'grpc-status': '13', 'x-error-code': 'INTERNAL' });
    expect(JSON.stringify(ended)).not.toContain('xyzzy');
    expect(stage.lines.join()).toContain('gRPC call failed unexpectedly');
  });

  it('accepts exactly one request message', async () => {
    await start();
    const none = { 'grpc-status': '12', 'grpc-message': 'this method takes exactly one request message' };
    expect(await stage.call(GET_SLOT).end().ended()).toMatchObject(none);
    expect(await stage.call(GET_SLOT).send(NONE).send(NONE).ended()).toMatchObject(none);
  });

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('accepts %s, and compresses the response if worthwhile', async (encoding, compress) => {
    await start();
    const text = 'over and over '.repeat(500);
    const call = stage.call(GET_SLOT, { 'grpc-encoding': encoding, 'grpc-accept-encoding': encoding });
    call.stream.end(frame(1, compress(Buffer.from(text))));
    expect(String(await call.next())).toBe(text);
    expect(call.headers).toMatchObject({ 'grpc-encoding': encoding });
    const small = stage.call(GET_SLOT, { 'grpc-encoding': encoding, 'grpc-accept-encoding': encoding });
    small.stream.end(frame(0, Buffer.from('small')));
    expect(String(await small.next())).toBe('small');
  });

  it('compresses responses only for clients that compress requests, unless configured otherwise', async () => {
    await start();
    const accepts = { 'grpc-accept-encoding': 'identity,zstd,gzip' };
    const call = stage.call(GET_SLOT, accepts).end(NONE);
    await call.ended();
    expect(call.headers?.['grpc-encoding']).toBeUndefined();
    await stage.stop();
    await start({ compression: 'accepted' });
    const pending = stage.call(GET_SLOT, accepts).end(NONE);
    await pending.ended();
    expect(pending.headers?.['grpc-encoding']).toBe('zstd');
  });

  it.each<[string, Buffer, Record<string, string>, Record<string, string>]>([
    [
      'a message that is too large',
      frame(0, NONE, 1_001),
      {},
      {
        'grpc-status': '11',
        'grpc-message': 'Error, decoded message length too large: found 1001 bytes, the limit is: 1000 bytes',
      },
    ],
    [
      'a message that cannot be decompressed',
      frame(1, Buffer.from('x')),
      { 'grpc-encoding': 'gzip' },
      { 'grpc-status': '13' },
    ],
    ['a compressed message without an encoding', frame(1, Buffer.from('x')), {}, { 'grpc-status': '13' }],
    ['an unknown flag', frame(2, NONE), {}, { 'grpc-status': '13' }],
    ['a truncated message', frame(0, Buffer.from('half'), 8), {}, { 'grpc-status': '13' }],
    [
      'an unknown encoding',
      frame(1, NONE),
      { 'grpc-encoding': 'br' },
      { 'grpc-status': '12', 'grpc-accept-encoding': 'identity,gzip,zstd' },
    ],
    ['an invalid timeout', frame(0, NONE), { 'grpc-timeout': '5 minutes' }, { 'grpc-status': '13' }],
  ])('rejects %s', async (_name, bytes, headers, expected) => {
    await start({ messageMaxBytes: 1_000 });
    const call = stage.call(GET_SLOT, headers);
    call.stream.end(bytes);
    expect(await call.ended()).toMatchObject({ ...expected, reset: 0 });
  });

  it.each([
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const)('accepts %s up to the limits of the decompressed message', async (encoding, compress) => {
    const send = (bytes: number) => {
      const call = stage.call(GET_SLOT, { 'grpc-encoding': encoding });
      call.stream.end(frame(1, compress(Buffer.alloc(bytes))));
      return call;
    };
    const refusal = (most: number) => ({
      'grpc-status': '11',
      'grpc-message': `Error, decoded message length too large: found more than ${most} bytes, the limit is: ${most} bytes`,
    });
    await start({ messageMaxBytes: 60_000 });
    expect((await send(60_000).next()).length).toBe(60_000);
    expect(await send(60_001).ended()).toMatchObject(refusal(60_000));
    await stage.stop();
    await start({ messageMaxBytes: 60_000, ratioExemptBytes: 5_000, decompressionRatioMax: 2 });
    expect((await send(5_000).next()).length).toBe(5_000);
    expect(await send(5_001).ended()).toMatchObject(refusal(5_000));
  });

  it.each<[string, Record<string, string>, Record<string, unknown>]>([
    ['another content type', { 'content-type': 'application/json' }, { ':status': 415 }],
    ['no content type', { 'content-type': '' }, { ':status': 415 }],
    ['another verb', { ':method': 'PUT' }, { ':status': 405, allow: 'POST' }],
    ['a path that is not served', { ':path': '/a.B/C' }, { ':status': 200, 'grpc-status': '12' }],
  ])('rejects %s', async (_name, headers, expected) => {
    await start();
    expect(await stage.call(GET_SLOT, headers).ended()).toMatchObject(expected);
  });
});

describe('health', () => {
  const HEALTH = '/grpc.health.v1.Health';
  const geyser = Buffer.concat([Buffer.of(10, 13), Buffer.from('geyser.Geyser')]);

  it('reports its status without a key, and streams each change', async () => {
    let well = true;
    stage = await new TestGrpcServer({ pingIntervalMs: 40 }, (service) => well || service === '').listen();
    const check = stage.call(`${HEALTH}/Check`, { 'x-token': '' }).end(geyser);
    expect([...(await check.next())]).toEqual([8, 1]);
    const watch = stage.call(`${HEALTH}/Watch`, { 'x-token': '' }).end(geyser);
    expect([...(await watch.next())]).toEqual([8, 1]);
    well = false;
    expect([...(await watch.next())]).toEqual([8, 2]);
  });

  it('reports only on known services', async () => {
    await start();
    const other = Buffer.concat([Buffer.of(10, 1), Buffer.from('x')]);
    expect(await stage.call(`${HEALTH}/Check`).end(other).ended()).toMatchObject({ 'grpc-status': '5' });
    expect([...(await stage.call(`${HEALTH}/Watch`).end(other).next())]).toEqual([8, 3]);
  });
});

describe('reflection', () => {
  const listServices = Buffer.of(58, 1, 42);

  it.each(['v1', 'v1alpha'])('of %s lists the services without a key', async (version) => {
    await start();
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    const call = stage.call(path, { 'x-token': '' }).send(listServices).end(listServices);
    for (let i = 0; i < 2; i++) expect(String(await call.next())).toContain('geyser.Geyser');
    expect(await call.ended()).toMatchObject({ 'grpc-status': '0' });
  });

  it('ends at its maximum age, or when the client does not read responses', async () => {
    await start({ requestTimeoutMs: 60 });
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
    expect(await stage.call(path).send(listServices).ended()).toMatchObject({ 'grpc-status': '4' });
    const flood = stage.call(path);
    flood.stream.pause();
    flood.stream.write(
      Buffer.concat(Array(20_000).fill(Buffer.concat([Buffer.of(0, 0, 0, 0, 3), listServices]))),
    );
    flood.stream.resume();
    expect(await flood.ended()).toMatchObject({ 'x-error-code': 'OVERLOADED' });
  });
});

const WATCH = '/grpc.health.v1.Health/Watch';

describe('a draining server', () => {
  it('ends streams after their queued messages, lets calls finish, and sends GOAWAY', async () => {
    stage = await new TestGrpcServer().listen();
    const session = stage.session();
    const call = stage.call(SUBSCRIBE, {}, session);
    const { sink } = await stage.stream();
    let answer: (bytes: Uint8Array) => void = () => {};
    const pending = new Promise<void>((wake) => {
      stage.unary = () =>
        new Promise((resolve) => {
          answer = resolve;
          wake();
        });
    });
    const unary = stage.call(GET_SLOT, {}, session).end(NONE);
    await pending;
    for (let i = 0; i < 2_000; i++) sink.push(NONE, Buffer.alloc(500));
    const goodbye = once(session, 'goaway');
    const drained = stage.server.drain(5_000);
    await goodbye;
    expect(await call.ended()).toMatchObject({
      'grpc-status': '14',
      'grpc-message': 'server is shutting down try again later',
      'x-error-code': 'DRAINING',
      'retry-after': '1',
    });
    expect(call.messages.length).toBe(2_001);
    answer(Buffer.from('done'));
    expect(await unary.ended()).toMatchObject({ 'grpc-status': '0' });
    expect(await drained).toBe(true);
    expect([stage.server.connections, stage.server.streams, stage.server.queuedBytes]).toEqual([0, 0, 0]);
  });

  it('still serves during the notice period, and reports NOT_SERVING', async () => {
    stage = await new TestGrpcServer({ pingIntervalMs: 40 }).listen();
    const watch = stage.call(WATCH).end(NONE);
    expect([...(await watch.next())]).toEqual([8, 1]);
    const drained = stage.server.drain(5_000, 200);
    expect([...(await watch.next())]).toEqual([8, 2]);
    expect(await stage.call(GET_SLOT).end(NONE).ended()).toMatchObject({ 'grpc-status': '0' });
    expect(await drained).toBe(true);
    const late = stage.session();
    await new Promise((resolve) => late.on('close', resolve));
    expect(late.destroyed).toBe(true);
  });

  it('aborts calls that do not finish in time', async () => {
    stage = await new TestGrpcServer().listen();
    let call: RawCall | null = null;
    await new Promise<void>((pending) => {
      stage.unary = () => {
        pending();
        return new Promise(() => {});
      };
      call = stage.call(GET_SLOT).end(NONE);
    });
    expect(await stage.server.drain(50)).toBe(false);
    expect((await (call as RawCall | null)?.ended())?.['grpc-status']).toBeUndefined();
    expect(stage.server.connections).toBe(0);
  });
});

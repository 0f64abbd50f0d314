import { afterEach, describe, expect, it } from 'vitest';
import type { GrpcServerOptions } from '../../../src/servers/grpc/options.ts';
import { type FakeGeyserStream, NONE, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

/** Head of each frame. */
const HEAD_BYTES = 5;
const SIZE = 10_000;

let stage: TestGrpcServer;
afterEach(() => stage.stop());

async function start(options: Partial<GrpcServerOptions> = {}): Promise<void> {
  stage = await new TestGrpcServer(options).listen();
}

function push({ sink }: FakeGeyserStream, messages: number): void {
  for (let i = 0; i < messages; i++) sink.push(NONE, Buffer.alloc(SIZE, i));
}

describe('the bytes sent on a stream', () => {
  it.each(['identity', 'gzip', 'zstd'])('are counted uncompressed, to the end: %s', async (encoding) => {
    await start({ compression: 'accepted', joinMs: 0 });
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

import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { NONE, type RawCall, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

const GET_SLOT = '/geyser.Geyser/GetSlot';
const WATCH = '/grpc.health.v1.Health/Watch';

let stage: TestGrpcServer;
afterEach(() => stage.stop());

describe('a draining server', () => {
  it('ends streams after queued messages, lets calls finish, and sends GOAWAY', async () => {
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

  it('serves during the notice period and reports NOT_SERVING', async () => {
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

  it('cuts calls that do not end in time', async () => {
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

import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage } from './mock/pool.ts';
import { type MockNode, startMock } from './mock/server.ts';

let scene: Scene;
let mock: MockNode | null = null;
afterEach(async () => {
  await scene.close();
  await mock?.close();
  mock = null;
});

/** A node that may be asked so much a second, and so much at once. */
async function limited(requestsPerSecond: number, requestsBurst: number) {
  mock = await startMock(healthy('1'));
  return { name: 'limited', url: mock.url, requestsPerSecond, requestsBurst };
}

describe('a node with a budget of requests', () => {
  it('is passed over once it is spent', async () => {
    scene = await stage([await limited(1, 3), healthy('2')]);
    const told = await Promise.all(Array.from({ length: 20 }, () => request(scene.pool, call('getBalance'))));
    expect(told.filter(({ body }) => body.toString() === '1').length).toBeLessThanOrEqual(3);
    expect(mock!.received.length).toBeLessThanOrEqual(3);
    expect(scene.pool.status()[0]).toMatchObject({ requestsPerSecond: 1, state: 'healthy' });
  });

  it('is waited for in turn when there is no other, and each call goes out once', async () => {
    scene = await stage([await limited(50, 1)]);
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 6 }, () => request(scene.pool, call('getBalance'))));
    expect(performance.now() - startedAt).toBeGreaterThan(90);
    expect(mock!.received).toHaveLength(6);
  });

  it('is not waited for when that takes too long: the call is told when to come again', async () => {
    scene = await stage([await limited(0.2, 1)], { restWaitMaxMs: 1_000 });
    await request(scene.pool, call('getBalance'));
    const failure = await request(scene.pool, call('getBalance')).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ code: 'OVERLOADED' });
    expect((failure as Failure).retryAfter).toBeGreaterThanOrEqual(4);
    expect(mock!.received).toHaveLength(1);
  });

  it('gives the place back of whoever leaves while waiting', async () => {
    scene = await stage([await limited(2, 1)]);
    await request(scene.pool, call('getBalance'));
    const leaving = new AbortController();
    const left = request(scene.pool, call('getBalance'), leaving.signal).catch((reason: unknown) => reason);
    leaving.abort();
    expect(await left).toMatchObject({ code: 'CLIENT_GONE' });
    const startedAt = performance.now();
    await request(scene.pool, call('getBalance'));
    expect(performance.now() - startedAt).toBeLessThan(900);
  });
});

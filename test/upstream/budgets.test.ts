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

/** Node with a request budget. */
async function limited(requestsPerSecond: number, requestsBurst: number) {
  mock = await startMock(healthy('1'));
  return { name: 'limited', url: mock.url, requestsPerSecond, requestsBurst };
}

describe('request budget of a node', () => {
  it('skips the node when exhausted', async () => {
    scene = await stage([await limited(1, 3), healthy('2')]);
    const results = await Promise.all(
      Array.from({ length: 20 }, () => request(scene.pool, call('getBalance'))),
    );
    expect(results.filter(({ body }) => body.toString() === '1').length).toBeLessThanOrEqual(3);
    expect(mock!.received.length).toBeLessThanOrEqual(3);
    expect(scene.pool.status()[0]).toMatchObject({ requestsPerSecond: 1, state: 'healthy' });
  });

  it('makes calls wait in order without another node, and sends each once', async () => {
    scene = await stage([await limited(50, 1)]);
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: 6 }, () => request(scene.pool, call('getBalance'))));
    expect(performance.now() - startedAt).toBeGreaterThan(90);
    expect(mock!.received).toHaveLength(6);
  });

  it('fails with Retry-After if the wait is too long', async () => {
    scene = await stage([await limited(0.2, 1)], { restWaitMaxMs: 1_000 });
    await request(scene.pool, call('getBalance'));
    const failure = await request(scene.pool, call('getBalance')).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ code: 'OVERLOADED' });
    expect((failure as Failure).retryAfter).toBeGreaterThanOrEqual(4);
    expect(mock!.received).toHaveLength(1);
  });

  it('is refunded when a waiting call is canceled', async () => {
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

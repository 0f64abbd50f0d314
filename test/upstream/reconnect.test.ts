import { afterEach, describe, expect, it } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { deadUrl } from './mock/dead.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage } from './mock/pool.ts';
import { type MockNode, startMock } from './mock/server.ts';

let scene: Scene;
let reborn: MockNode | undefined;
afterEach(async () => {
  await scene.close();
  await reborn?.close();
  reborn = undefined;
});

async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const reason: unknown = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(reason).toBeInstanceOf(Failure);
  return reason as Failure;
}

/** Node that starts listening after a while. */
async function returning(afterMs: number): Promise<{ name: string; url: string }> {
  const url = await deadUrl();
  setTimeout(() => {
    startMock(healthy('7'), Number(new URL(url).port)).then(
      (mock) => {
        reborn = mock;
      },
      () => {},
    );
  }, afterMs);
  return { name: 'returning', url };
}

describe('call while the only node accepts no connection', () => {
  it.each(['getBalance', 'sendTransaction', 'requestAirdrop', 'someNewMethod'])(
    'waits until it does, since nothing was sent: %s',
    async (method) => {
      scene = await stage([await returning(900)], { reconnectMaxMs: 5_000, circuitFailuresMax: 1 });
      expect((await request(scene.pool, call(method))).body.toString()).toBe('7');
      expect(reborn?.count(method)).toBe(1);
    },
  );

  it('waits for a limited time with growing backoff, and reports Retry-After', async () => {
    scene = await stage([{ name: 'dead', url: await deadUrl() }], { reconnectMaxMs: 600, backoffMs: 0 });
    const startedAt = performance.now();
    const failure = await failureOf(request(scene.pool, call('getBalance')));
    const elapsedMs = performance.now() - startedAt;
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryAfter: 1 });
    expect(elapsedMs).toBeGreaterThan(300);
    expect(elapsedMs).toBeLessThan(2_500);
    expect(String(failure.cause).split('no connection').length - 1).toBeLessThan(16);
  });

  it('does not wait when disabled', async () => {
    scene = await stage([{ name: 'dead', url: await deadUrl() }], { reconnectMaxMs: 0, attemptsMax: 2 });
    const failure = await failureOf(request(scene.pool, call('getBalance')));
    expect(String(failure.cause).split('no connection').length - 1).toBe(2);
  });

  it('stops waiting when canceled', async () => {
    scene = await stage([{ name: 'dead', url: await deadUrl() }], { reconnectMaxMs: 5_000 });
    const leave = new AbortController();
    const pending = failureOf(request(scene.pool, call('getBalance'), leave.signal));
    setTimeout(() => leave.abort(), 50);
    const startedAt = performance.now();
    await pending;
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe('Retry-After', () => {
  it('is part of upstream failures', async () => {
    scene = await stage([dyingAfterRequest], { attemptsMax: 4 });
    expect(await failureOf(request(scene.pool, call('getBalance')))).toMatchObject({ retryAfter: 1 });
  });

  it('is omitted where a repetition could do harm', async () => {
    scene = await stage([dyingAfterRequest]);
    const failure = await failureOf(request(scene.pool, call('requestAirdrop')));
    expect(failure.facts).toMatchObject({ outcome: 'unknown' });
    expect(failure.retryAfter).toBeUndefined();
  });
});

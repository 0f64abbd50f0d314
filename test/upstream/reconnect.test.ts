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

/** A node that is away, and begins to listen where it was after so long. */
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

describe('a call while the only node takes no connection', () => {
  it.each(['getBalance', 'sendTransaction', 'requestAirdrop', 'someNewMethod'])(
    'waits until it does again, since nothing was sent: %s',
    async (method) => {
      scene = await stage([await returning(900)], { reconnectMaxMs: 5_000, circuitFailuresMax: 1 });
      expect((await request(scene.pool, call(method))).body.toString()).toBe('7');
      expect(reborn?.count(method)).toBe(1);
    },
  );

  it('waits no longer than it may, asks ever more rarely, and says when to come again', async () => {
    scene = await stage([{ name: 'dead', url: await deadUrl() }], { reconnectMaxMs: 600, backoffMs: 0 });
    const startedAt = performance.now();
    const failure = await failureOf(request(scene.pool, call('getBalance')));
    const elapsedMs = performance.now() - startedAt;
    expect(failure).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryAfter: 1 });
    expect(elapsedMs).toBeGreaterThan(300);
    expect(elapsedMs).toBeLessThan(2_500);
    expect(String(failure.cause).split('no connection').length - 1).toBeLessThan(16);
  });

  it('does not wait when waiting is turned off', async () => {
    scene = await stage([{ name: 'dead', url: await deadUrl() }], { reconnectMaxMs: 0, attemptsMax: 2 });
    const failure = await failureOf(request(scene.pool, call('getBalance')));
    expect(String(failure.cause).split('no connection').length - 1).toBe(2);
  });

  it('stops waiting when the caller leaves', async () => {
    scene = await stage([{ name: 'dead', url: await deadUrl() }], { reconnectMaxMs: 5_000 });
    const leave = new AbortController();
    const asked = failureOf(request(scene.pool, call('getBalance'), leave.signal));
    setTimeout(() => leave.abort(), 50);
    const startedAt = performance.now();
    await asked;
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe('the time after which to come again', () => {
  it('stands in a failure of the nodes', async () => {
    scene = await stage([dyingAfterRequest], { attemptsMax: 4 });
    expect(await failureOf(request(scene.pool, call('getBalance')))).toMatchObject({ retryAfter: 1 });
  });

  it('does not invite to repeat what may have happened and would happen twice', async () => {
    scene = await stage([dyingAfterRequest]);
    const failure = await failureOf(request(scene.pool, call('requestAirdrop')));
    expect(failure.facts).toMatchObject({ outcome: 'unknown' });
    expect(failure.retryAfter).toBeUndefined();
  });
});

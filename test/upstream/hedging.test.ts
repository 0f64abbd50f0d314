import { afterEach, describe, expect, it } from 'vitest';
import type { CallAttempt } from '../../src/protocol/call.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { healthy } from './mock/healthy.ts';
import { inSequence } from './mock/in-sequence.ts';
import { call, type Scene, stage } from './mock/pool.ts';
import type { Behaviour } from './mock/server.ts';
import { silent } from './mock/silent.ts';
import { slow } from './mock/slow.ts';

let scene: Scene;
afterEach(() => scene.close());

/** Nodes of which the first to be called behaves the first way. */
async function open(
  behaviours: readonly Behaviour[],
  limits: Partial<UpstreamLimits> = {},
  nodes = 2,
): Promise<Scene> {
  const either = inSequence(...behaviours);
  const quick = { hedgeMinMs: 30, hedgeMaxMs: 30, attemptTimeoutMs: 4_000 };
  scene = await stage(Array(nodes).fill(either), { ...quick, ...limits });
  return scene;
}

const pending = (): number => scene.mocks.reduce((sum, { received }) => sum + received.length, 0);

describe('hedged read', () => {
  it('is answered by the second node and both attempts are traced', async () => {
    const { pool } = await open([silent, healthy('2')]);
    const attempts: CallAttempt[] = [];
    const trace = { onAttempt: (attempt: CallAttempt) => void attempts.push(attempt) };
    const answer = await request(pool, { ...call('getBalance'), trace });
    expect(answer.body.toString()).toBe('2');
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['ok', 'superseded by another node']);
    expect(new Set(attempts.map(({ node }) => node)).size).toBe(2);
    const [late, quick] = pool.status().toSorted((a, b) => a.hedges - b.hedges);
    expect([late!.hedges, quick!.hedges]).toEqual([0, 1]);
    expect(pool.status().map(({ inFlight, failuresInRow }) => [inFlight, failuresInRow])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(late!.latencyMs).toBeGreaterThan(25);
  });

  it('is answered by the first node if it is faster after all', async () => {
    const { pool } = await open([slow(100, healthy('1')), silent]);
    expect((await request(pool, call('getBalance'))).body.toString()).toBe('1');
    expect(pending()).toBe(2);
  });

  it('waits for the other attempt when one fails', async () => {
    const { pool } = await open([slow(100, healthy('1')), dyingAfterRequest]);
    expect((await request(pool, call('getBalance'))).body.toString()).toBe('1');
    expect(pending()).toBe(2);
  });

  it('tries the third node when both fail', async () => {
    const { pool } = await open([slow(60, dyingAfterRequest), dyingAfterRequest, healthy('3')], {}, 3);
    expect((await request(pool, call('getBalance'))).body.toString()).toBe('3');
  });

  it('does not return a null while another attempt is in flight', async () => {
    const { pool } = await open([slow(150, healthy('{"slot":5}')), healthy('null')]);
    expect((await request(pool, call('getTransaction', ['x']))).body.toString()).toBe('{"slot":5}');
    expect(pending()).toBe(2);
  });

  it('returns the null if the other attempt gives nothing better', async () => {
    const { pool } = await open([slow(100, dyingAfterRequest), healthy('null')]);
    expect((await request(pool, call('getTransaction', ['x']))).body.toString()).toBe('null');
    expect(pending()).toBe(2);
  });

  it('is canceled at both nodes', async () => {
    const leave = new AbortController();
    const { pool } = await open([silent, () => leave.abort()]);
    await expect(request(pool, call('getBalance'), leave.signal)).rejects.toMatchObject({
      code: 'CLIENT_GONE',
    });
    expect(pool.status().every(({ inFlight }) => inFlight === 0)).toBe(true);
  });
});

describe('a slow call is not hedged', () => {
  it.each(['getProgramAccounts', 'simulateTransaction', 'sendTransaction', 'requestAirdrop', 'getAsset'])(
    'unless it is a light read: %s',
    async (method) => {
      const { pool } = await open([slow(120, healthy('1')), healthy('2')]);
      expect((await request(pool, call(method))).body.toString()).toBe('1');
      expect(pending()).toBe(1);
    },
  );

  it('when hedging is disabled', async () => {
    const { pool } = await open([slow(120, healthy('1')), healthy('2')], { hedgeRatio: 0 });
    expect((await request(pool, call('getBalance'))).body.toString()).toBe('1');
    expect(pending()).toBe(1);
  });

  it('when all other nodes are saturated', async () => {
    const { pool } = await open([slow(120, healthy('1')), healthy('2')], { connectionsMax: 4 });
    for (const node of pool.nodesOf('devnet')) node.inFlight += 4;
    expect((await request(pool, call('getBalance'))).body.toString()).toBe('1');
    expect(pending()).toBe(1);
  });

  it('when the hedge budget is exhausted', async () => {
    const { pool, mocks } = await open([slow(60, healthy('1'))], { hedgeRatio: 0.01 });
    await Promise.all(Array.from({ length: 40 }, () => request(pool, call('getBalance'))));
    const sent = mocks.reduce((sum, { received }) => sum + received.length, 0);
    expect(sent).toBeGreaterThan(40);
    expect(sent).toBeLessThanOrEqual(50);
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import type { CallAttempt } from '../../src/protocol/call.ts';
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

/** Two or more nodes, of which whoever is asked first acts the first way. */
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

const asked = (): number => scene.mocks.reduce((sum, { received }) => sum + received.length, 0);

describe('a read whose node is late', () => {
  it('is put to a second node, whose answer wins, and both stand in the trace', async () => {
    const { pool } = await open([silent, healthy('2')]);
    const attempts: CallAttempt[] = [];
    const trace = { onAttempt: (attempt: CallAttempt) => void attempts.push(attempt) };
    const answer = await pool.request({ ...call('getBalance'), trace });
    expect(answer.body.toString()).toBe('2');
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['ok', 'given up: another node was first']);
    expect(new Set(attempts.map(({ node }) => node)).size).toBe(2);
    const [late, quick] = pool.status().toSorted((a, b) => a.hedges - b.hedges);
    expect([late!.hedges, quick!.hedges]).toEqual([0, 1]);
    expect(pool.status().map(({ inFlight, failuresInRow }) => [inFlight, failuresInRow])).toEqual([
      [0, 0],
      [0, 0],
    ]);
    expect(late!.latencyMs).toBeGreaterThan(25);
  });

  it('is answered by the first when that is sooner after all', async () => {
    const { pool } = await open([slow(100, healthy('1')), silent]);
    expect((await pool.request(call('getBalance'))).body.toString()).toBe('1');
    expect(asked()).toBe(2);
  });

  it('waits for the other when one of the two fails', async () => {
    const { pool } = await open([slow(100, healthy('1')), dyingAfterRequest]);
    expect((await pool.request(call('getBalance'))).body.toString()).toBe('1');
    expect(asked()).toBe(2);
  });

  it('goes to the third when both fail', async () => {
    const { pool } = await open([slow(60, dyingAfterRequest), dyingAfterRequest, healthy('3')], {}, 3);
    expect((await pool.request(call('getBalance'))).body.toString()).toBe('3');
  });

  it('is not answered with a null that may only mean "not here" while another node is out', async () => {
    const { pool } = await open([slow(150, healthy('{"slot":5}')), healthy('null')]);
    expect((await pool.request(call('getTransaction', ['x']))).body.toString()).toBe('{"slot":5}');
    expect(asked()).toBe(2);
  });

  it('is answered with that null when the other has nothing better', async () => {
    const { pool } = await open([slow(100, dyingAfterRequest), healthy('null')]);
    expect((await pool.request(call('getTransaction', ['x']))).body.toString()).toBe('null');
    expect(asked()).toBe(2);
  });

  it('is given up at both nodes when the caller leaves', async () => {
    const leave = new AbortController();
    const { pool } = await open([silent, () => leave.abort()]);
    await expect(pool.request(call('getBalance'), leave.signal)).rejects.toMatchObject({
      code: 'CLIENT_GONE',
    });
    expect(pool.status().every(({ inFlight }) => inFlight === 0)).toBe(true);
  });
});

describe('a late call stays with its node', () => {
  it.each(['getProgramAccounts', 'simulateTransaction', 'sendTransaction', 'requestAirdrop', 'getAsset'])(
    'when it is no light read: %s',
    async (method) => {
      const { pool } = await open([slow(120, healthy('1')), healthy('2')]);
      expect((await pool.request(call(method))).body.toString()).toBe('1');
      expect(asked()).toBe(1);
    },
  );

  it('when hedging is turned off', async () => {
    const { pool } = await open([slow(120, healthy('1')), healthy('2')], { hedgeRatio: 0 });
    expect((await pool.request(call('getBalance'))).body.toString()).toBe('1');
    expect(asked()).toBe(1);
  });

  it('when all others have more calls than connections', async () => {
    const { pool } = await open([slow(120, healthy('1')), healthy('2')], { connectionsMax: 4 });
    for (const node of pool.nodesOf('devnet')) node.inFlight += 4;
    expect((await pool.request(call('getBalance'))).body.toString()).toBe('1');
    expect(asked()).toBe(1);
  });

  it('when as many were hedged as may be', async () => {
    const { pool, mocks } = await open([slow(60, healthy('1'))], { hedgeRatio: 0.01 });
    await Promise.all(Array.from({ length: 40 }, () => pool.request(call('getBalance'))));
    const sent = mocks.reduce((sum, { received }) => sum + received.length, 0);
    expect(sent).toBeGreaterThan(40);
    expect(sent).toBeLessThanOrEqual(50);
  });
});

import { describe, expect, it } from 'vitest';
import { deadUrl, dyingAfterRequest, healthy, onMethod, refusing } from './mock/behaviors.ts';
import { type Scene, stageForEach, until } from './mock/pool.ts';

const stage = stageForEach();

const only = (results: readonly string[], result: string): void =>
  expect(new Set(results)).toEqual(new Set([result]));

describe('health monitoring', () => {
  it('skips a lagging node until it has caught up', async () => {
    const scene = await stage([healthy('1', 5_000n), healthy('2', 5_200n)], { lagMaxSlots: 100 });
    const { pool, mocks, states } = scene;
    pool.start();
    await until(() => states().join() === 'behind,healthy');
    only(await scene.sendMany(10), '2');
    expect(pool.status().map((node) => node.lagSlots)).toEqual([200n, 0n]);
    mocks[0]!.become(healthy('1', 5_190n));
    await until(() => states()[0] === 'healthy');
  });

  it('marks a node as failing after two failed polls, but still uses it', async () => {
    const { pool, mocks, states, send } = await stage([dyingAfterRequest], { circuitFailuresMax: 1_000 });
    pool.start();
    await until(() => mocks[0]!.polls.length >= 1);
    expect(states()).toEqual(['unknown']);
    await until(() => states()[0] === 'failing');
    expect(mocks[0]!.polls.length).toBeLessThanOrEqual(3);
    mocks[0]!.become(healthy('1'));
    expect(await send()).toBe('1');
    expect(states()).toEqual(['healthy']);
  });

  it('reports ready when a node of every network has responded', async () => {
    const { pool } = await stage([{ name: 'dead', url: await deadUrl() }, healthy('2')]);
    expect(await pool.waitUntilReady(10)).toBe(false);
    pool.start();
    expect(await pool.waitUntilReady(5_000)).toBe(true);
  });
});

/** Answers polls for its slot and fails all calls. */
const broken = onMethod('getSlot', healthy(), refusing(500));

/** A pool that has detected that its first node fails calls. */
async function stageBroken(limits: Parameters<typeof stage>[1]): Promise<Scene> {
  const scene = await stage([broken, healthy('2')], { circuitFailuresMax: 1_000, ...limits });
  scene.pool.start();
  const results: Promise<string[]>[] = [];
  await until(() => {
    results.push(scene.sendAtOnce(8));
    return scene.states()[0] === 'failing';
  });
  await until(() => scene.pool.status().every(({ inFlight }) => inFlight === 0));
  // Each call failed over to the other node.
  only((await Promise.all(results)).flat(), '2');
  return scene;
}

describe('node that answers polls but fails calls', () => {
  it('is tested with mirrored calls and re-admitted after successes', async () => {
    const scene = await stageBroken({
      recoveryProbeRatio: 1,
      readmitSuccessesMin: 5,
      readmitPollsMin: 10_000,
    });
    const { pool, mocks, states } = scene;
    const before = mocks[0]!.count('getBalance');
    only(await scene.sendMany(20), '2');
    await until(() => mocks[0]!.count('getBalance') > before);
    expect(pool.status()[0]!.copies).toBeGreaterThan(0);
    mocks[0]!.become(healthy('1'));
    while (states()[0] !== 'healthy') expect(['1', '2']).toContain(await scene.send());
    expect(pool.status()[0]!.reason).toBeNull();
  });

  it('is re-admitted by polls without traffic, and ejected again by one failed call', async () => {
    const { pool, mocks, states, send } = await stageBroken({ recoveryProbeRatio: 0 });
    await until(() => states()[0] === 'healthy');
    expect(pool.status()[0]!.copies).toBe(0);
    const before = mocks[0]!.count('getBalance');
    while (mocks[0]!.count('getBalance') === before) expect(await send()).toBe('2');
    expect(states()[0]).toBe('failing');
  });

  it('receives no mirrored scans or writes', async () => {
    const { sendMany, counts } = await stageBroken({ recoveryProbeRatio: 1, readmitPollsMin: 10_000 });
    for (const method of ['getProgramAccounts', 'simulateTransaction', 'sendTransaction', 'getAsset']) {
      await sendMany(5, method);
      expect(counts(method)[0]).toBe(0);
    }
  });
});

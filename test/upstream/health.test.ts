import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  deadUrl,
  dyingAfterRequest,
  failing,
  healthy,
  onMethod,
  refusing,
  reporting,
  silent,
  throttling,
} from './mock/behaviors.ts';
import { type Scene, stageForEach, until } from './mock/pool.ts';

const stage = stageForEach();

const only = (results: readonly string[], result: string): void =>
  expect(new Set(results)).toEqual(new Set([result]));

/** Log lines about a node. */
const logOf = ({ logged }: Scene, node: string) =>
  logged.map((line) => JSON.parse(line)).filter((line) => line.node === node);

/** Advances with every read. */
const moving = (from: number): (() => number) => {
  let slot = from;
  return () => slot++;
};

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

  it('does not let one node far ahead exclude two that agree', async () => {
    const { pool, states } = await stage([5_000n, 5_001n, 9_000_000n].map((slot) => healthy('1', slot)));
    pool.start();
    await until(() => pool.status().every((node) => node.slot !== null));
    expect(states().slice(0, 2)).toEqual(['healthy', 'healthy']);
  });

  it('forgets the slot of a dead node', async () => {
    const { pool, mocks, states } = await stage([healthy('1', 5_000n), healthy('2', 9_000_000n)], {
      circuitFailuresMax: 1,
    });
    pool.start();
    await until(() => states()[0] === 'behind');
    mocks[1]!.become(dyingAfterRequest);
    await until(() => states().join() === 'healthy,failing');
  });

  it('uses bad nodes if there are no others', async () => {
    const limits = { circuitFailuresMax: 1, circuitOpenMs: 60_000 };
    const { pool, mocks, states, send } = await stage([dyingAfterRequest], limits);
    pool.start();
    await until(() => states()[0] === 'failing');
    mocks[0]!.become(healthy('1'));
    expect(await send()).toBe('1');
    await until(() => states()[0] === 'healthy');
  });

  it('retries a failing node and logs each change once', async () => {
    const scene = await stage([dyingAfterRequest, healthy('2')], {
      circuitFailuresMax: 2,
      circuitOpenMs: 50,
    });
    const { pool, mocks, states } = scene;
    pool.start();
    await until(() => states()[0] === 'failing');
    const before = mocks[0]!.received.length;
    only(await scene.sendMany(5), '2');
    expect(mocks[0]!.received.length - before).toBeLessThanOrEqual(1);
    mocks[0]!.become(healthy('1'));
    await until(() => states()[0] === 'healthy' && logOf(scene, 'node-1').length >= 2);
    expect(logOf(scene, 'node-1').map(({ state }) => state)).toEqual(['failing', 'healthy']);
    expect(scene.logged.join()).not.toContain('127.0.0.1');
  });

  it('marks a node failing after two failed polls, but still uses it', async () => {
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

  it('does not poll a throttled node', async () => {
    const { pool, mocks, states, sendMany } = await stage([throttling('30'), healthy('2')]);
    pool.start();
    await until(() => states()[0] === 'resting');
    await sendMany(5);
    await until(() => mocks[1]!.polls.length > 3);
    expect([mocks[0]!.received.length, mocks[0]!.polls.length]).toEqual([0, 1]);
  });

  it('marks a node that throttles polls as throttled, never failing', async () => {
    const { pool, mocks, states } = await stage([throttling()], {
      throttleMs: 5,
      throttleMaxMs: 5,
      pollIntervalMs: 10,
    });
    pool.start();
    const seen = new Set<string>();
    await until(() => {
      seen.add(states()[0]!);
      return mocks[0]!.polls.length > 4;
    });
    expect([...seen].toSorted()).toEqual(['resting', 'unknown']);
  });

  it('throttles a node that reports limits by JSON-RPC', async () => {
    const { mocks, states, sendMany } = await stage([failing(-32429, 'rate limited')], {
      throttleMs: 10_000,
    });
    only(await sendMany(3), 'UPSTREAM_UNAVAILABLE');
    expect([states(), mocks[0]!.received.length]).toEqual([['resting'], 1]);
  });

  it('is ready when a node of every network has responded', async () => {
    const { pool } = await stage([{ name: 'dead', url: await deadUrl() }, healthy('2')]);
    expect(await pool.waitUntilReady(10)).toBe(false);
    pool.start();
    expect(await pool.waitUntilReady(5_000)).toBe(true);
  });

  it('is silent once stopped, even during a poll', async () => {
    const { pool, mocks, logged } = await stage([healthy('1'), silent], {
      ...{ circuitFailuresMax: 1, pollTimeoutMs: 5_000 },
    });
    pool.start();
    await until(() => mocks[0]!.polls.length > 2 && mocks[1]!.polls.length === 1);
    await pool.stop();
    // A poll may have been in flight when the pool stopped.
    for (const mock of mocks) await expect.poll(() => mock.connections()).toBe(0);
    const seen = (): number[] => [...mocks.map(({ polls }) => polls.length), logged.length];
    const before = seen();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await sleep(150);
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
    expect(seen()).toEqual(before);
  });
});

describe('node that reports itself healthy is skipped', () => {
  it('while it receives shreds but does not replay', async () => {
    const { pool, mocks, states } = await stage([
      reporting({ slot: 5_000, shreds: 5_200 }),
      reporting({ slot: 5_000 }),
    ]);
    pool.start();
    await until(() => states()[0] === 'behind');
    expect(pool.status()[0]!.reason).toBe('200 slots received but not replayed');
    mocks[0]!.become(reporting({ slot: 5_199, shreds: 5_200 }));
    mocks[1]!.become(reporting({ slot: 5_199 }));
    await until(() => states()[0] === 'healthy');
  });

  it('while its slot does not advance, and logs each change once', async () => {
    const scene = await stage([reporting({ slot: 5_000 }), reporting({ slot: moving(5_000) })], {
      stallMs: 100,
    });
    const { pool, mocks, states } = scene;
    pool.start();
    await until(() => states()[0] === 'behind');
    expect(pool.status()[0]!.reason).toContain('slot does not advance');
    mocks[0]!.become(reporting({ slot: moving(5_010) }));
    await until(() => states()[0] === 'healthy');
    expect(logOf(scene, 'node-1').map(({ state }) => state)).toEqual(['healthy', 'behind', 'healthy']);
  });

  it('but used without a better node', async () => {
    const frozen = reporting({ slot: 5_000, shreds: 5_500, result: '1' });
    const { pool, states, sendMany } = await stage([frozen, frozen]);
    pool.start();
    await until(() => states().every((state) => state === 'behind'));
    only(await sendMany(3), '1');
  });
});

/** Answers polls for its slot and fails all calls. */
const broken = onMethod('getSlot', healthy(), refusing(500));

/** A pool that knows that its first node fails calls. */
async function stageBroken(limits: Parameters<typeof stage>[1]): Promise<Scene> {
  const scene = await stage([broken, healthy('2')], { circuitFailuresMax: 1_000, ...limits });
  scene.pool.start();
  const results: Promise<string[]>[] = [];
  await until(() => {
    results.push(scene.sendAtOnce(8));
    return scene.states()[0] === 'failing';
  });
  await until(() => scene.pool.status().every(({ inFlight }) => inFlight === 0));
  // Calls moved to the other node each time.
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

  it('is re-admitted by polls without traffic and ejected again by one failed call', async () => {
    const { pool, mocks, states, send } = await stageBroken({ recoveryProbeRatio: 0 });
    await until(() => states()[0] === 'healthy');
    expect(pool.status()[0]!.copies).toBe(0);
    const before = mocks[0]!.count('getBalance');
    while (mocks[0]!.count('getBalance') === before) expect(await send()).toBe('2');
    expect(states()[0]).toBe('failing');
    mocks[0]!.become(healthy('1'));
    await until(() => states()[0] === 'healthy');
    while ((await send()) !== '1');
    expect(states()[0]).toBe('healthy');
  });

  it('receives no mirrored scans or writes', async () => {
    const { sendMany, counts } = await stageBroken({ recoveryProbeRatio: 1, readmitPollsMin: 10_000 });
    for (const method of ['getProgramAccounts', 'simulateTransaction', 'sendTransaction', 'getAsset']) {
      await sendMany(5, method);
      expect(counts(method)[0]).toBe(0);
    }
  });
});

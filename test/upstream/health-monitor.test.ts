import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Failure } from '../../src/protocol/errors.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { deadUrl } from './mock/dead.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { failing } from './mock/failing.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { silent } from './mock/silent.ts';
import { throttling } from './mock/throttling.ts';

let scene: Scene;
afterEach(() => scene.close());

const stateOf = (name: string): string | undefined =>
  scene.pool.status().find((node) => node.name === name)?.state;

describe('health monitoring', () => {
  it('skips a lagging node until it has caught up', async () => {
    scene = await stage([healthy('1', 5_000n), healthy('2', 5_200n)], { lagMaxSlots: 100 });
    const { pool, mocks } = scene;
    pool.start();
    await until(() => stateOf('node-1') === 'behind' && stateOf('node-2') === 'healthy');
    for (let i = 0; i < 10; i++) expect((await request(pool, call('getBalance'))).body.toString()).toBe('2');
    expect(pool.status().map((node) => node.lagSlots)).toEqual([200n, 0n]);
    mocks[0]!.become(healthy('1', 5_190n));
    await until(() => stateOf('node-1') === 'healthy');
  });

  it('does not let one node far ahead exclude two that agree', async () => {
    scene = await stage([healthy('1', 5_000n), healthy('2', 5_001n), healthy('3', 9_000_000n)]);
    scene.pool.start();
    await until(() => scene.pool.status().every((node) => node.slot !== null));
    expect(stateOf('node-1')).toBe('healthy');
    expect(stateOf('node-2')).toBe('healthy');
  });

  it('forgets the slot of a dead node', async () => {
    scene = await stage([healthy('1', 5_000n), healthy('2', 9_000_000n)], { circuitFailuresMax: 1 });
    scene.pool.start();
    await until(() => stateOf('node-1') === 'behind');
    scene.mocks[1]!.become(dyingAfterRequest);
    await until(() => stateOf('node-1') === 'healthy' && stateOf('node-2') === 'failing');
  });

  it('uses bad nodes if there are no others', async () => {
    scene = await stage([dyingAfterRequest], { circuitFailuresMax: 1, circuitOpenMs: 60_000 });
    scene.pool.start();
    await until(() => stateOf('node-1') === 'failing');
    scene.mocks[0]!.become(healthy('1'));
    expect((await request(scene.pool, call('getBalance'))).body.toString()).toBe('1');
    await until(() => stateOf('node-1') === 'healthy');
  });

  it('retries a failing node and logs each change once', async () => {
    scene = await stage([dyingAfterRequest, healthy('2')], { circuitFailuresMax: 2, circuitOpenMs: 50 });
    const { pool, mocks, logged } = scene;
    pool.start();
    await until(() => stateOf('node-1') === 'failing');
    const before = mocks[0]!.received.length;
    for (let i = 0; i < 5; i++) expect((await request(pool, call('getBalance'))).body.toString()).toBe('2');
    expect(mocks[0]!.received.length - before).toBeLessThanOrEqual(1);
    mocks[0]!.become(healthy('1'));
    await until(() => stateOf('node-1') === 'healthy' && logged.some((line) => line.includes('is healthy')));
    await until(() => logged.filter((line) => line.includes('"node":"node-1"')).length >= 2);
    const results = logged
      .filter((line) => line.includes('"node":"node-1"'))
      .map((line) => JSON.parse(line).state);
    expect(results).toEqual(['failing', 'healthy']);
    expect(logged.join()).not.toContain('127.0.0.1');
  });

  it('marks a node failing after two failed polls, but still uses it', async () => {
    scene = await stage([dyingAfterRequest], { circuitFailuresMax: 1_000 });
    const { pool, mocks } = scene;
    pool.start();
    await until(() => mocks[0]!.polls.length >= 1);
    expect(stateOf('node-1')).toBe('unknown');
    await until(() => stateOf('node-1') === 'failing');
    expect(mocks[0]!.polls.length).toBeLessThanOrEqual(3);
    mocks[0]!.become(healthy('1'));
    expect((await request(pool, call('getBalance'))).body.toString()).toBe('1');
    expect(stateOf('node-1')).toBe('healthy');
  });

  it('does not poll a throttled node', async () => {
    scene = await stage([throttling('30'), healthy('2')]);
    scene.pool.start();
    await until(() => stateOf('node-1') === 'resting');
    for (let i = 0; i < 5; i++) await request(scene.pool, call('getBalance'));
    await until(() => scene.mocks[1]!.polls.length > 3);
    expect(scene.mocks[0]!.received).toHaveLength(0);
    expect(scene.mocks[0]!.polls).toHaveLength(1);
  });

  it('marks a node that throttles polls as throttled, never failing', async () => {
    scene = await stage([throttling()], { restMs: 5, restMaxMs: 5, pollIntervalMs: 10 });
    const { pool, mocks } = scene;
    pool.start();
    const states = new Set<string>();
    await until(() => {
      states.add(stateOf('node-1') ?? '');
      return mocks[0]!.polls.length > 4;
    });
    expect([...states].toSorted()).toEqual(['resting', 'unknown']);
  });

  it('throttles a node that reports limits by JSON-RPC', async () => {
    scene = await stage([failing(-32429, 'rate limited')], { restMs: 10_000 });
    const { pool, mocks } = scene;
    for (let i = 0; i < 3; i++) await expect(request(pool, call('getBalance'))).rejects.toThrow(Failure);
    expect(stateOf('node-1')).toBe('resting');
    expect(mocks[0]!.received).toHaveLength(1);
  });

  it('is ready when a node of every network has responded', async () => {
    scene = await stage([{ name: 'dead', url: await deadUrl() }, healthy('2')]);
    expect(await scene.pool.waitUntilReady(10)).toBe(false);
    scene.pool.start();
    expect(await scene.pool.waitUntilReady(5_000)).toBe(true);
  });

  it('is silent once stopped, even during a poll', async () => {
    scene = await stage([healthy('1'), silent], { circuitFailuresMax: 1, pollTimeoutMs: 5_000 });
    const { pool, mocks, logged } = scene;
    pool.start();
    await until(() => mocks[0]!.polls.length > 2 && mocks[1]!.polls.length === 1);
    await pool.stop();
    // A poll may have been in flight when the pool stopped.
    for (const mock of mocks) await expect.poll(() => mock.connections()).toBe(0);
    const before = [mocks[0]!.polls.length, mocks[1]!.polls.length, logged.length];
    const timers = vi.spyOn(globalThis, 'setTimeout');
    await sleep(150);
    expect(timers).not.toHaveBeenCalled();
    timers.mockRestore();
    expect([mocks[0]!.polls.length, mocks[1]!.polls.length, logged.length]).toEqual(before);
  });
});

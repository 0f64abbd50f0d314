import { afterEach, describe, expect, it } from 'vitest';
import type { CallAttempt } from '../../src/protocol/call.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { dyingAfterRequest } from './mock/dying-after-request.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage } from './mock/pool.ts';

let scene: Scene;
afterEach(() => scene.close());

const callTimes = async (times: number): Promise<void> => {
  for (let i = 0; i < times; i++) await request(scene.pool, call('getBalance'));
};
const requests = (): number[] => scene.mocks.map(({ received }) => received.length);

describe('cordoned node', () => {
  it('receives no calls until uncordoned and shows the reason', async () => {
    scene = await stage([healthy(), healthy()]);
    expect(scene.pool.cordon('devnet', 'node-1', 'new disks')).toBe(true);
    await callTimes(20);
    expect(requests()).toEqual([0, 20]);
    const [first, second] = scene.pool.status();
    expect(first).toMatchObject({ state: 'cordoned', reason: 'new disks', cordoned: true });
    expect(second).toMatchObject({ state: 'healthy', reason: null, cordoned: false });
    scene.pool.uncordon('devnet', 'node-1');
    scene.pool.cordon('devnet', 'node-2', '');
    await callTimes(20);
    expect(requests()).toEqual([20, 20]);
    expect(scene.pool.status()[1]!.reason).toBe('taken out of service by the operator');
  });

  it('is used when all nodes are cordoned, and shows that', async () => {
    scene = await stage([healthy(), healthy()]);
    scene.pool.cordon('devnet', 'node-1', 'a');
    scene.pool.cordon('devnet', 'node-2', 'b');
    await callTimes(4);
    expect(requests().reduce((a, b) => a + b)).toBe(4);
    const [first] = scene.pool.status();
    expect(first).toMatchObject({ cordoned: true, reason: expect.stringContaining('still used') });
    expect(first!.state).not.toBe('cordoned');
  });

  it('must exist', async () => {
    scene = await stage([healthy()]);
    expect(scene.pool.cordon('devnet', 'node-9', '')).toBe(false);
    expect(scene.pool.cordon('testnet', 'node-1', '')).toBe(false);
    expect(scene.pool.uncordon('devnet', 'node-9')).toBe(false);
  });
});

describe('call trace', () => {
  it('records every attempt in order with node, times and outcome', async () => {
    scene = await stage([dyingAfterRequest, healthy()]);
    const before = performance.now();
    let attempts: CallAttempt[] = [];
    // The first node is random.
    for (let i = 0; i < 100 && attempts.length < 2; i++) {
      attempts = [];
      const trace = { onAttempt: (attempt: CallAttempt) => void attempts.push(attempt) };
      await request(scene.pool, { ...call('getBalance'), trace });
    }
    expect(attempts).toMatchObject([
      { node: 'node-1', outcome: 'connection lost' },
      { node: 'node-2', outcome: 'ok' },
    ]);
    for (const { startedAt, endedAt } of attempts) {
      expect(startedAt).toBeGreaterThanOrEqual(before - 1);
      expect(endedAt).toBeGreaterThanOrEqual(startedAt);
    }
  });
});

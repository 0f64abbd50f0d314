import { describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { healthy } from './mock/behaviors.ts';
import { call, closeAfterEach, failureOf, stageForEach, until } from './mock/pool.ts';
import { type MockNode, startMock } from './mock/server.ts';

const stage = stageForEach();
const closing = closeAfterEach();

/** Node with a request budget. */
async function limited(requestsPerSecond: number, requestsBurst: number) {
  const mock: MockNode = closing(await startMock(healthy('1')));
  return { mock, node: { name: 'limited', url: mock.url, requestsPerSecond, requestsBurst } };
}

describe('request budget of a node', () => {
  it('fails with Retry-After if the wait is too long', async () => {
    const { mock, node } = await limited(0.2, 1);
    const { send, pool } = await stage([node], { throttleWaitMaxMs: 1_000 });
    await send();
    const failure = await failureOf(request(pool, call('getBalance')));
    expect(failure.code).toBe('OVERLOADED');
    expect(failure.retryAfter).toBeGreaterThanOrEqual(4);
    expect(mock.received).toHaveLength(1);
  });
});

describe('cordoned node', () => {
  it('receives no calls until uncordoned and shows the reason', async () => {
    const { pool, sendMany, counts } = await stage([healthy(), healthy()]);
    expect(pool.cordon('devnet', 'node-1', 'new disks')).toBe(true);
    await sendMany(20);
    expect(counts()).toEqual([0, 20]);
    expect(pool.status()).toMatchObject([
      { state: 'cordoned', reason: 'new disks', cordoned: true },
      { state: 'healthy', reason: null, cordoned: false },
    ]);
    pool.uncordon('devnet', 'node-1');
    pool.cordon('devnet', 'node-2', '');
    await sendMany(20);
    expect(counts()).toEqual([20, 20]);
    expect(pool.status()[1]!.reason).toBe('taken out of service by the operator');
  });

  it('is used when all nodes are cordoned, and shows that', async () => {
    const { pool, sendMany, counts } = await stage([healthy(), healthy()]);
    for (const node of ['node-1', 'node-2']) pool.cordon('devnet', node, 'a');
    await sendMany(4);
    expect(counts().reduce((a, b) => a + b)).toBe(4);
    const [first] = pool.status();
    expect(first).toMatchObject({ cordoned: true, reason: expect.stringContaining('still used') });
    expect(first!.state).not.toBe('cordoned');
  });
});

it('sticky calls stay at one node and leave it at once when it is cordoned', async () => {
  const { pool, sendMany, states, counts } = await stage([healthy(), healthy(), healthy()], {
    loadBalancing: 'sticky',
  });
  pool.start();
  await until(() => states().every((state) => state === 'healthy'));
  await sendMany(20);
  const first = counts().indexOf(20);
  expect(first).toBeGreaterThanOrEqual(0);
  pool.cordon('devnet', `node-${first + 1}`, '');
  await sendMany(20);
  expect(counts().toSorted()).toEqual([0, 20, 20]);
  expect(counts()[first]).toBe(20);
});

import { describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import type { UpstreamLimits } from '../../src/upstream/limits.ts';
import type { NodeConfig } from '../../src/upstream/node.ts';
import { SubmitTargets } from '../../src/upstream/submit/submit-targets.ts';
import { failing, healthy, holding, onMethod, refusing, reporting } from './mock/behaviors.ts';
import { call, closeAfterEach, stageForEach, until } from './mock/pool.ts';
import { type Behaviour, startMock } from './mock/server.ts';

const stage = stageForEach();
const closing = closeAfterEach();

type Given = readonly [behaviour: Behaviour, options: Partial<NodeConfig>];

async function open(nodes: readonly Given[], limits: Partial<UpstreamLimits> = {}) {
  const mocks = await Promise.all(nodes.map(async ([behaviour]) => closing(await startMock(behaviour))));
  const configs = mocks.map(({ url }, index) => ({ name: `node-${index + 1}`, url, ...nodes[index]![1] }));
  const scene = await stage(configs, limits);
  return {
    ...scene,
    mocks,
    counts: (method?: string) =>
      mocks.map((mock) => (method === undefined ? mock.received.length : mock.count(method))),
  };
}

describe('nodes of a worse priority', () => {
  it('get calls only while no better node can serve them', async () => {
    const { pool, sendMany, counts } = await open([
      [healthy(), {}],
      [healthy(), { priority: 2 }],
      [healthy(), { priority: 3 }],
    ]);
    await sendMany(20);
    expect(counts()).toEqual([20, 0, 0]);
    pool.cordon('devnet', 'node-1', '');
    await sendMany(20);
    expect(counts()).toEqual([20, 20, 0]);
    pool.uncordon('devnet', 'node-1');
    await sendMany(20);
    expect(counts()).toEqual([40, 20, 0]);
  });

  it.each<[string, Given]>([
    ['fails', [refusing(500), {}]],
    ['has reached its rate limit', [healthy('"node-1"'), { requestsPerSecond: 0.1, requestsBurst: 1 }]],
    ['lacks the method', [failing(-32601), {}]],
  ])('serve calls when the better node %s', async (_name, first) => {
    const { sendMany, counts } = await open([first, [healthy('"node-2"'), { priority: 2 }]]);
    expect((await sendMany(10)).slice(1)).toEqual(Array(9).fill('"node-2"'));
    expect(counts()[0]).toBeGreaterThan(0);
  });

  it('get no hedges and no transactions', async () => {
    const held: (() => void)[] = [];
    const { pool, send, counts } = await open(
      [
        [onMethod('getSlot', healthy(), holding(held)), {}],
        [healthy(), { priority: 2 }],
      ],
      { hedgeMinMs: 1, hedgeMaxMs: 5, hedgeRatio: 1 },
    );
    const slow = send();
    await until(() => held.length === 1);
    await until(() => pool.status()[0]!.inFlight === 1);
    const startedAt = performance.now();
    await until(() => performance.now() - startedAt > 60);
    expect(counts()).toEqual([1, 0]);
    held[0]!();
    expect(await slow).toBe('"ok"');
    const targets = new SubmitTargets(pool);
    expect(targets.nodes('devnet').map(({ name }) => name)).toEqual(['node-1']);
    pool.cordon('devnet', 'node-1', '');
    expect(targets.nodes('devnet').map(({ name }) => name)).toEqual(['node-2']);
  });

  it('confirm a missing transaction only if the better node lacks history', async () => {
    const nothing = (firstAvailable: number) =>
      onMethod('getTransaction', healthy('null'), reporting({ slot: 2_000_000, firstAvailable }));
    const open2 = async (first: number, second: number) => {
      const scene = await open([
        [nothing(first), {}],
        [nothing(second), { priority: 2 }],
      ]);
      scene.pool.start();
      await until(() => scene.pool.status().every(({ firstAvailableBlock }) => firstAvailableBlock !== null));
      const { body } = await request(scene.pool, call('getTransaction', ['x']));
      expect(body.toString()).toBe('null');
      return scene.counts('getTransaction');
    };
    expect(await open2(0, 0)).toEqual([1, 0]);
    expect(await open2(1_500_000, 0)).toEqual([1, 1]);
  });
});

describe('weights', () => {
  it('divide the calls among nodes of one priority', async () => {
    const { sendMany, counts } = await open([
      [healthy(), { weight: 3 }],
      [healthy(), {}],
      [healthy(), { weight: 100, priority: 2 }],
    ]);
    await sendMany(400);
    const [first, second, third] = counts() as [number, number, number];
    expect([first + second, third]).toEqual([400, 0]);
    // Six standard deviations on either side of 300.
    expect(first).toBeGreaterThan(248);
    expect(first).toBeLessThan(352);
  });
});

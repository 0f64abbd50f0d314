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

  it('do not raise the slot that the service reports', async () => {
    const { pool, states } = await open([
      [reporting({ slot: 1_000 }), {}],
      [reporting({ slot: 1_010 }), { priority: 2 }],
    ]);
    pool.start();
    await until(() => states().every((state) => state === 'healthy'));
    expect(pool.slotAt('devnet', 'processed')?.slot).toBe(1_000n);
    pool.cordon('devnet', 'node-1', '');
    await until(() => pool.slotAt('devnet', 'processed')?.slot === 1_010n);
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

it('weights divide the calls among nodes of one priority, regardless of latency', async () => {
  const { sendMany, counts } = await open([
    [healthy(), { weight: 1_000 }],
    [healthy(), {}],
    [healthy(), { weight: 1_000, priority: 2 }],
  ]);
  await sendMany(40);
  // Without weights, each of the first two gets 20 on average.
  expect(counts()[0]).toBeGreaterThan(36);
});

describe('method routes', () => {
  const open3 = () =>
    open([
      [healthy(), {}],
      [healthy(), { methods: ['getToken*', 'sendTransaction'] }],
      [healthy(), { methods: ['getTokenSupply', '*'] }],
    ]);

  it('send a call to the nodes with the most specific pattern', async () => {
    const { pool, sendMany, counts } = await open3();
    await sendMany(20, 'getTokenSupply');
    await sendMany(20, 'getTokenAccountBalance');
    await sendMany(20, 'getBalance');
    expect(counts('getTokenSupply')).toEqual([0, 0, 20]);
    expect(counts('getTokenAccountBalance')).toEqual([0, 20, 0]);
    expect(counts('getBalance')[1]).toBe(0);
    pool.cordon('devnet', 'node-1', '');
    await sendMany(5, 'getBlock');
    expect(counts('getBlock')).toEqual([0, 0, 5]);
  });

  it('outweigh the sticky node', async () => {
    const { pool, states, sendMany, counts } = await open(
      [
        [healthy(), {}],
        [healthy(), { methods: ['getTokenSupply'], priority: 2 }],
        [healthy(), { methods: ['getTokenSupply'], priority: 3 }],
      ],
      { loadBalancing: 'sticky' },
    );
    pool.start();
    await until(() => states().every((state) => state === 'healthy'));
    await sendMany(5, 'getTokenSupply');
    await sendMany(5, 'getBalance');
    expect([counts('getTokenSupply'), counts('getBalance')]).toEqual([
      [0, 5, 0],
      [5, 0, 0],
    ]);
  });

  it('apply to transactions', async () => {
    const { pool } = await open3();
    expect(new SubmitTargets(pool).nodes('devnet').map(({ name }) => name)).toEqual(['node-2']);
  });

  it('hold while the only node is cordoned, and fail calls when it is drained', async () => {
    const { pool, send, counts } = await open3();
    pool.cordon('devnet', 'node-2', '');
    expect(await send('getTokenAccountBalance')).toBe('"ok"');
    pool.drain(new Set(['devnet/node-2']));
    expect(await send('getTokenAccountBalance')).toBe('UPSTREAM_UNAVAILABLE');
    expect(counts('getTokenAccountBalance')).toEqual([0, 1, 0]);
  });
});

describe('declared capabilities', () => {
  it.each<[string, Partial<NodeConfig>, string, unknown[]]>([
    ['the index', { indexes: ['spl-token-owner'] }, 'getProgramAccounts', ['x']],
    ['the history', { archive: false }, 'getSignaturesForAddress', ['x']],
  ])('send calls to other nodes if a node lacks %s', async (_name, options, method, params) => {
    const { pool, sendMany, counts } = await open([
      [healthy(), options],
      [healthy(), {}],
    ]);
    await sendMany(10, method, params);
    expect(counts(method)).toEqual([0, 10]);
    pool.cordon('devnet', 'node-2', '');
    await sendMany(10, method, params);
    expect(counts(method)).toEqual([10, 10]);
  });

  it('outweigh the first block that a node reports', async () => {
    const recent = reporting({ slot: 2_000_000, firstAvailable: 1_900_000 });
    const { pool, sendMany, counts } = await open([
      [recent, {}],
      [recent, { archive: true }],
    ]);
    pool.start();
    await until(() => pool.status().every(({ firstAvailableBlock }) => firstAvailableBlock !== null));
    await sendMany(10, 'getBlock', [7]);
    expect(counts('getBlock')).toEqual([0, 10]);
  });
});

it('nodes of another region come last within their priority', async () => {
  const { pool, sendMany, counts } = await open([
    [healthy(), { isRemote: true }],
    [healthy(), {}],
    [healthy(), { priority: 2 }],
  ]);
  await sendMany(10);
  pool.cordon('devnet', 'node-2', '');
  await sendMany(10);
  expect(counts()).toEqual([10, 10, 0]);
});

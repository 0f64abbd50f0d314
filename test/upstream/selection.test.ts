import { describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import type { Network } from '../../src/protocol/call.ts';
import { MinSlot } from '../../src/protocol/min-slot.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { slot } from '../../src/solana/units.ts';
import { genesisHashes, genesisHashesWith } from '../../src/upstream/genesis-hash.ts';
import { createUpstreamPool } from '../../src/upstream/pool.ts';
import { failing, healthy, onMethod, reporting } from './mock/behaviors.ts';
import { call, closeAfterEach, failureOf, outcomeOf, type Scene, stageForEach, until } from './mock/pool.ts';
import { type Behaviour, send, sendError, startMock } from './mock/server.ts';

const stage = stageForEach();
const closing = closeAfterEach();

const total = ({ counts }: Scene, method: string): number => counts(method).reduce((a, b) => a + b);
const only = (results: readonly string[], ...expected: string[]): void =>
  expect(new Set(results)).toEqual(new Set(expected));

/** Node selection is random, so this sends bursts, which are spread over the nodes, until the first was used. */
async function untilFirstUsed({ mocks, send }: Scene, method: string, params?: unknown): Promise<string[]> {
  const sent: Promise<string>[] = [];
  await until(() => {
    for (let count = 0; count < 20; count++) sent.push(send(method, params));
    return mocks[0]!.count(method) > 0;
  });
  return Promise.all(sent);
}

describe('request rate limit of a node', () => {
  it('fails calls with Retry-After if the wait would be too long', async () => {
    const mock = closing(await startMock(healthy('1')));
    const node = { name: 'limited', url: mock.url, requestsPerSecond: 0.2, requestsBurst: 1 };
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

  it('is used when all nodes are cordoned, and its status says so', async () => {
    const { pool, sendMany, counts } = await stage([healthy(), healthy()]);
    for (const node of ['node-1', 'node-2']) pool.cordon('devnet', node, 'Testing.');
    await sendMany(4);
    expect(counts().reduce((a, b) => a + b)).toBe(4);
    const [first] = pool.status();
    const reason = 'Testing. Still in use although cordoned: no other node is available.';
    expect(first).toMatchObject({ cordoned: true, reason });
    expect(first!.state).not.toBe('cordoned');
  });
});

it('sticky calls stay on one node, and move at once when it is cordoned', async () => {
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

describe('missing capability', () => {
  it.each([
    ['the method', -32601, 'getBalance', ['x']],
    ['an index', -32010, 'getTokenAccountsByOwner', ['x']],
    ['history', -32011, 'getTransaction', ['x']],
    ['a block that other nodes have', -32007, 'getBlock', [5]],
  ])('makes later calls go to the other node first: %s', async (_name, code, method, params) => {
    const scene = await stage([failing(code), healthy('2')]);
    await untilFirstUsed(scene, method, params);
    const [before] = scene.counts(method);
    only(await scene.sendMany(20, method, params), '2');
    expect(scene.counts(method)[0]).toBe(before);
    expect(scene.pool.status()[0]!.lacks).toEqual([method]);
  });
});

describe('history', () => {
  const recent = reporting({ slot: 2_000_000, firstAvailable: 1_500_000, result: '"recent"' });

  it('missing on two nodes is reported as missing, without trying the others', async () => {
    const scene = await stage(Array(4).fill(onMethod('getBlock', failing(-32001), recent)));
    scene.pool.start();
    await until(() => scene.pool.status().every(({ firstAvailableBlock }) => firstAvailableBlock !== null));
    expect(await scene.send('getBlock', [7])).toBe('-32001');
    expect(total(scene, 'getBlock')).toBe(2);
  });
});

describe('null transaction', () => {
  it('is confirmed by a second node', async () => {
    const scene = await stage([healthy('null'), healthy('{"slot":5}')]);
    only(await untilFirstUsed(scene, 'getTransaction', ['x']), '{"slot":5}');
  });
});

it('a call goes to nodes that have reached its minimum slot, whether set by caller or session', async () => {
  const scene = await stage([
    reporting({ slot: 1_000, result: '1' }),
    reporting({ slot: 1_050, result: '2' }),
  ]);
  const { pool, sendMany } = scene;
  pool.start();
  await until(() => pool.status().every(({ slot: known }) => known !== null));
  const options = { commitment: 'processed', minContextSlot: 1_040 };
  only(await sendMany(10, 'getBalance', ['x', options]), '2');
  const minSlot = new MinSlot();
  minSlot.raise('processed', slot(1_050n));
  const limited = { ...call('getBalance', ['x', { commitment: 'processed' }]), minSlot };
  for (let i = 0; i < 10; i++) expect(await outcomeOf(pool, limited)).toBe('2');
  expect(await untilFirstUsed(scene, 'getBalance', ['x'])).toContain('1');
});

const PRIVATE = 'HNSLXWEvvuKfLEZBvAtDy1cWqeSPvZ8Yh1mVrQzWaB3x';

const nodeOf =
  (genesis: string, result: string, slot = 1_000): Behaviour =>
  ({ id, method }, reply) => {
    const own = method === 'getGenesisHash' ? `"${genesis}"` : method === 'getSlot' ? `${slot}` : result;
    send(reply, `{"jsonrpc":"2.0","result":${own},"id":${id}}\n`);
  };

const OTHER = 'GWgAHTvmpvnzPBSJmxLtSGAhDGDCZCRFHJ5hdwJiDH5y';

describe('node on another chain', () => {
  it('receives no calls, does not make others appear behind, and is logged once', async () => {
    const { pool, mocks, logged, states, sendMany } = await stage([
      nodeOf(genesisHashes.devnet, '1'),
      nodeOf(PRIVATE, '2', 9_000_000),
    ]);
    pool.start();
    await until(() => states().join() === 'healthy,wrong-chain' && mocks[1]!.polls.length > 6);
    expect(await sendMany(20)).toEqual(Array(20).fill('1'));
    expect(mocks[1]!.received).toHaveLength(0);
    const lines = logged.map((line) => JSON.parse(line)).filter(({ node }) => node === 'node-2');
    expect(lines.filter(({ state }) => state === 'wrong-chain')).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ genesisHash: PRIVATE });
  });

  it('is the last configured one when two unknown chains tie; the tie is logged once', async () => {
    const { pool, mocks, logged, states, sendMany } = await stage([
      nodeOf(PRIVATE, '1'),
      nodeOf(OTHER, '2', 9_000),
    ]);
    pool.start();
    await until(() => states().join() === 'healthy,wrong-chain' && mocks[1]!.polls.length > 6);
    expect(await sendMany(20)).toEqual(Array(20).fill('1'));
    const results = logged.map((line) => JSON.parse(line)).filter(({ chains }) => chains !== undefined);
    expect(results).toHaveLength(1);
    expect(results[0].chains).toEqual({ [PRIVATE]: ['node-1'], [OTHER]: ['node-2'] });
    expect(results[0].msg).toContain('solway doctor');
  });
});

it('nodes of a custom network with a genesis hash receive no calls on another chain, even if none is left', async () => {
  const mock = closing(await startMock(nodeOf(PRIVATE, '1')));
  const staging = 'staging' as Network;
  const pool = createUpstreamPool({
    nodes: { [staging]: [{ name: 'n', url: mock.url }] },
    genesisHashes: genesisHashesWith({ [staging]: OTHER }),
    limits: { pollIntervalMs: 30 },
    log: createLogger('silent', () => {}),
  });
  closing({ close: () => pool.stop() });
  pool.start();
  await until(() => pool.status()[0]?.state === 'wrong-chain');
  expect(pool.networks()).toEqual([staging]);
  expect(await outcomeOf(pool, { ...call('getBalance'), network: staging })).toBe('UPSTREAM_UNAVAILABLE');
  expect(mock.received).toHaveLength(0);
});

it('a node that rejects getGenesisHash is trusted, and the call is not repeated', async () => {
  const refuse: Behaviour = ({ id }, reply) => sendError(reply, id, -32601, 'Method not found');
  const mute = onMethod('getGenesisHash', refuse, nodeOf('', '2'));
  const { pool, mocks, states } = await stage([nodeOf(genesisHashes.devnet, '1'), mute], {
    circuitFailuresMax: 1,
  });
  pool.start();
  await until(() => mocks[1]!.polls.length > 6);
  expect(mocks[1]!.polls.filter(({ method }) => method === 'getGenesisHash')).toHaveLength(1);
  expect(states()).toEqual(['healthy', 'healthy']);
});

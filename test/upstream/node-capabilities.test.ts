import { afterEach, describe, expect, it } from 'vitest';
import { MinSlot } from '../../src/protocol/min-slot.ts';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { slot } from '../../src/solana/units.ts';
import { failing } from './mock/failing.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { reporting } from './mock/reporting.ts';
import type { Behaviour } from './mock/server.ts';

let scene: Scene;
afterEach(() => scene.close());

const resultOf = async (method: string, params: unknown = []): Promise<string> =>
  (await request(scene.pool, call(method, params))).body.toString();
const counts = (method: string): number[] => scene.mocks.map((mock) => mock.count(method));

/** Node selection is random: calls until the first node was used. */
async function untilFirstUsed(method: string, params: unknown = []): Promise<void> {
  await until(() => {
    void resultOf(method, params).catch(() => {});
    return scene.mocks[0]!.count(method) > 0;
  });
  await until(() => scene.pool.status().every(({ inFlight }) => inFlight === 0));
}

describe('missing capability', () => {
  it.each([
    ['the method', -32601, 'getBalance', ['x']],
    ['a method that nobody has in a table', -32601, 'getAsset', ['x']],
    ['a method, of a node that is not Agave', -32065, 'getLargestAccounts', []],
    ['an index', -32010, 'getTokenAccountsByOwner', ['x']],
    ['history', -32011, 'getTransaction', ['x']],
    ['old blocks', -32001, 'getBlock', [5]],
    ['a block that others have', -32007, 'getBlock', [5]],
  ])('makes later calls go to the other node first: %s', async (_name, code, method, params) => {
    scene = await stage([failing(code), healthy('2')]);
    await untilFirstUsed(method, params);
    const [before] = counts(method);
    for (let i = 0; i < 20; i++) expect(await resultOf(method, params)).toBe('2');
    expect(counts(method)[0]).toBe(before);
    expect(scene.pool.status()[0]!.lacks).toEqual([method]);
  });

  it('does not exclude the only remaining node', async () => {
    scene = await stage([failing(-32601), healthy('2')]);
    await untilFirstUsed('getBalance');
    scene.pool.cordon('devnet', 'node-2', '');
    scene.mocks[0]!.become(healthy('1'));
    expect(await resultOf('getBalance')).toBe('1');
  });

  it('does not apply to newer slots or other methods', async () => {
    scene = await stage([failing(-32001), healthy('2')]);
    await untilFirstUsed('getBlock', [5]);
    scene.mocks[0]!.become(healthy('1'));
    const results = await Promise.all(Array.from({ length: 30 }, () => resultOf('getBlock', [6])));
    expect(new Set(results).size).toBe(2);
    expect(new Set(await Promise.all(Array.from({ length: 10 }, () => resultOf('getBlock', [4]))))).toEqual(
      new Set(['2']),
    );
  });
});

describe('history', () => {
  const archive = reporting({ slot: 2_000_000, firstAvailable: 0, result: '"archive"' });
  const recent = reporting({ slot: 2_000_000, firstAvailable: 1_500_000, result: '"recent"' });

  const open = async (): Promise<void> => {
    scene = await stage([recent, archive, recent]);
    scene.pool.start();
    const known = (): boolean =>
      scene.pool
        .status()
        .every(({ firstAvailableBlock, state }) => firstAvailableBlock !== null && state === 'healthy');
    await until(known);
    // Wait for the review after the last poll.
    const polls = scene.mocks[1]!.polls.length;
    await until(() => scene.mocks[1]!.polls.length > polls + 1);
  };

  it('before the first block of a node is requested from other nodes', async () => {
    await open();
    for (let i = 0; i < 10; i++) expect(await resultOf('getBlock', [7])).toBe('"archive"');
    for (let i = 0; i < 10; i++) expect(await resultOf('getSignaturesForAddress', ['x'])).toBe('"archive"');
    const newer = await Promise.all(Array.from({ length: 30 }, () => resultOf('getBlock', [1_600_000])));
    expect(new Set(newer)).toEqual(new Set(['"archive"', '"recent"']));
  });

  it('missing at one node is requested from a node with more', async () => {
    await open();
    const without = reporting({ slot: 2_000_000, firstAvailable: 1_500_000, result: 'null' });
    scene.mocks[0]!.become(without);
    scene.mocks[2]!.become(without);
    for (let i = 0; i < 10; i++) expect(await resultOf('getTransaction', ['x'])).toBe('"archive"');
  });

  it('missing at two nodes is final, however many nodes there are', async () => {
    const pruned: Behaviour = (request, reply, socket) => {
      if (request.method === 'getBlock') failing(-32001)(request, reply, socket);
      else recent(request, reply, socket);
    };
    scene = await stage([pruned, pruned, pruned, pruned]);
    scene.pool.start();
    await until(() => scene.pool.status().every(({ firstAvailableBlock }) => firstAvailableBlock !== null));
    expect((await request(scene.pool, call('getBlock', [7]))).errorCode).toBe(-32001);
    expect(counts('getBlock').reduce((a, b) => a + b)).toBe(2);
  });
});

describe('null transaction', () => {
  it('is confirmed by a second node', async () => {
    scene = await stage([healthy('null'), healthy('{"slot":5}')]);
    for (let i = 0; i < 8; i++) expect(await resultOf('getTransaction', ['x'])).toBe('{"slot":5}');
  });

  it('is final when two nodes agree, without a third', async () => {
    scene = await stage([healthy('null'), healthy('null'), healthy('null')]);
    expect(await resultOf('getTransaction', ['x'])).toBe('null');
    expect(counts('getTransaction').reduce((a, b) => a + b)).toBe(2);
  });

  it('is final when confirmation is disabled, or with one node', async () => {
    scene = await stage([healthy('null'), healthy('null')], { confirmNullResults: false });
    expect(await resultOf('getTransaction', ['x'])).toBe('null');
    expect(counts('getTransaction').reduce((a, b) => a + b)).toBe(1);
    scene.pool.cordon('devnet', 'node-1', '');
    expect(await resultOf('getTransaction', ['x'])).toBe('null');
  });

  it('does not wait for a node that does not respond', async () => {
    scene = await stage([healthy('null'), failing(-32011)]);
    expect(await resultOf('getTransaction', ['x'])).toBe('null');
  });
});

describe('minimum slot of a call', () => {
  it('selects nodes that reached it, whether set by caller or session', async () => {
    scene = await stage([reporting({ slot: 1_000, result: '1' }), reporting({ slot: 1_050, result: '2' })]);
    scene.pool.start();
    await until(() => scene.pool.status().every(({ slot: known }) => known !== null));
    const options = { commitment: 'processed', minContextSlot: 1_040 };
    for (let i = 0; i < 10; i++) expect(await resultOf('getBalance', ['x', options])).toBe('2');
    const minSlot = new MinSlot();
    minSlot.raise('processed', slot(1_050n));
    for (let i = 0; i < 10; i++) {
      const limited = { ...call('getBalance', ['x', { commitment: 'processed' }]), minSlot };
      expect((await request(scene.pool, limited)).body.toString()).toBe('2');
    }
    const any = await Promise.all(Array.from({ length: 30 }, () => resultOf('getBalance', ['x'])));
    expect(new Set(any)).toEqual(new Set(['1', '2']));
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { MinSlot } from '../../src/protocol/min-slot.ts';
import { slot } from '../../src/solana/units.ts';
import { failing } from './mock/failing.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { reporting } from './mock/reporting.ts';
import type { Behaviour } from './mock/server.ts';

let scene: Scene;
afterEach(() => scene.close());

const ask = async (method: string, params: unknown = []): Promise<string> =>
  (await scene.pool.request(call(method, params))).body.toString();
const counts = (method: string): number[] => scene.mocks.map((mock) => mock.count(method));

/** Which of the two is asked is left to chance; until the first one was. */
async function untilFirstAsked(method: string, params: unknown = []): Promise<void> {
  await until(() => {
    void ask(method, params).catch(() => {});
    return scene.mocks[0]!.count(method) > 0;
  });
  await until(() => scene.pool.status().every(({ inFlight }) => inFlight === 0));
}

describe('what a node lacks and another has', () => {
  it.each([
    ['the method', -32601, 'getBalance', ['x']],
    ['a method that nobody has in a table', -32601, 'getAsset', ['x']],
    ['a method, of a node that is not Agave', -32065, 'getLargestAccounts', []],
    ['an index', -32010, 'getTokenAccountsByOwner', ['x']],
    ['history', -32011, 'getTransaction', ['x']],
    ['old blocks', -32001, 'getBlock', [5]],
    ['a block that others have', -32007, 'getBlock', [5]],
  ])('is asked of the other first from then on: %s', async (_name, code, method, params) => {
    scene = await stage([failing(code), healthy('2')]);
    await untilFirstAsked(method, params);
    const [before] = counts(method);
    for (let i = 0; i < 20; i++) expect(await ask(method, params)).toBe('2');
    expect(counts(method)[0]).toBe(before);
    expect(scene.pool.status()[0]!.lacks).toEqual([method]);
  });

  it('is no reason not to ask the only node that is left', async () => {
    scene = await stage([failing(-32601), healthy('2')]);
    await untilFirstAsked('getBalance');
    scene.pool.cordon('devnet', 'node-2', '');
    scene.mocks[0]!.become(healthy('1'));
    expect(await ask('getBalance')).toBe('1');
  });

  it('says nothing about slots that are newer, or about other methods', async () => {
    scene = await stage([failing(-32001), healthy('2')]);
    await untilFirstAsked('getBlock', [5]);
    scene.mocks[0]!.become(healthy('1'));
    const told = await Promise.all(Array.from({ length: 30 }, () => ask('getBlock', [6])));
    expect(new Set(told).size).toBe(2);
    expect(new Set(await Promise.all(Array.from({ length: 10 }, () => ask('getBlock', [4]))))).toEqual(
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
    // What each told is looked at once more after the last of them did.
    const polls = scene.mocks[1]!.polls.length;
    await until(() => scene.mocks[1]!.polls.length > polls + 1);
  };

  it('before the first block of a node is asked of those that have it', async () => {
    await open();
    for (let i = 0; i < 10; i++) expect(await ask('getBlock', [7])).toBe('"archive"');
    for (let i = 0; i < 10; i++) expect(await ask('getSignaturesForAddress', ['x'])).toBe('"archive"');
    const newer = await Promise.all(Array.from({ length: 30 }, () => ask('getBlock', [1_600_000])));
    expect(new Set(newer)).toEqual(new Set(['"archive"', '"recent"']));
  });

  it('that a node does not have is looked for where there is more of it', async () => {
    await open();
    const without = reporting({ slot: 2_000_000, firstAvailable: 1_500_000, result: 'null' });
    scene.mocks[0]!.become(without);
    scene.mocks[2]!.become(without);
    for (let i = 0; i < 10; i++) expect(await ask('getTransaction', ['x'])).toBe('"archive"');
  });

  it('that no node has is asked of two, however many there are', async () => {
    const pruned: Behaviour = (request, reply, socket) => {
      if (request.method === 'getBlock') failing(-32001)(request, reply, socket);
      else recent(request, reply, socket);
    };
    scene = await stage([pruned, pruned, pruned, pruned]);
    scene.pool.start();
    await until(() => scene.pool.status().every(({ firstAvailableBlock }) => firstAvailableBlock !== null));
    expect((await scene.pool.request(call('getBlock', [7]))).errorCode).toBe(-32001);
    expect(counts('getBlock').reduce((a, b) => a + b)).toBe(2);
  });
});

describe('a transaction that the first node does not have', () => {
  it('is looked for at a second one', async () => {
    scene = await stage([healthy('null'), healthy('{"slot":5}')]);
    for (let i = 0; i < 8; i++) expect(await ask('getTransaction', ['x'])).toBe('{"slot":5}');
  });

  it('is not there when two say so, and a third is not asked', async () => {
    scene = await stage([healthy('null'), healthy('null'), healthy('null')]);
    expect(await ask('getTransaction', ['x'])).toBe('null');
    expect(counts('getTransaction').reduce((a, b) => a + b)).toBe(2);
  });

  it('is not looked for further where that is turned off, or at the only node', async () => {
    scene = await stage([healthy('null'), healthy('null')], { confirmNullResults: false });
    expect(await ask('getTransaction', ['x'])).toBe('null');
    expect(counts('getTransaction').reduce((a, b) => a + b)).toBe(1);
    scene.pool.cordon('devnet', 'node-1', '');
    expect(await ask('getTransaction', ['x'])).toBe('null');
  });

  it('is not waited for at a node that gives no answer', async () => {
    scene = await stage([healthy('null'), failing(-32011)]);
    expect(await ask('getTransaction', ['x'])).toBe('null');
  });
});

describe('a call that must not be answered from before a slot', () => {
  it('goes to those that have come to it, whoever says so: the caller, or what it was told before', async () => {
    scene = await stage([reporting({ slot: 1_000, result: '1' }), reporting({ slot: 1_050, result: '2' })]);
    scene.pool.start();
    await until(() => scene.pool.status().every(({ slot: known }) => known !== null));
    const options = { commitment: 'processed', minContextSlot: 1_040 };
    for (let i = 0; i < 10; i++) expect(await ask('getBalance', ['x', options])).toBe('2');
    const floor = new MinSlot();
    floor.raise('processed', slot(1_050n));
    for (let i = 0; i < 10; i++) {
      const floored = { ...call('getBalance', ['x', { commitment: 'processed' }]), floor };
      expect((await scene.pool.request(floored)).body.toString()).toBe('2');
    }
    const any = await Promise.all(Array.from({ length: 30 }, () => ask('getBalance', ['x'])));
    expect(new Set(any)).toEqual(new Set(['1', '2']));
  });
});

import { afterEach, describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { healthy } from './mock/healthy.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { reporting } from './mock/reporting.ts';
import { type Behaviour, send } from './mock/server.ts';

let scene: Scene;
afterEach(() => scene.close());

const stateOf = (name: string): string | undefined =>
  scene.pool.status().find((node) => node.name === name)?.state;
const reasonOf = (name: string): string | null | undefined =>
  scene.pool.status().find((node) => node.name === name)?.reason;

const callTimes = async (times: number): Promise<string[]> => {
  const results: string[] = [];
  for (let i = 0; i < times; i++)
    results.push((await request(scene.pool, call('getBalance'))).body.toString());
  return results;
};

/** Advances with every read. */
const moving = (from: number): (() => number) => {
  let slot = from;
  return () => slot++;
};

describe('node that reports itself healthy is skipped', () => {
  it('while it receives shreds but does not replay', async () => {
    scene = await stage([
      reporting({ slot: 5_000, shreds: 5_200, result: '1' }),
      reporting({ slot: 5_000, result: '2' }),
    ]);
    scene.pool.start();
    await until(() => stateOf('node-1') === 'behind');
    expect(reasonOf('node-1')).toBe('200 slots received but not replayed');
    expect(new Set(await callTimes(10))).toEqual(new Set(['2']));
    scene.mocks[0]!.become(reporting({ slot: 5_199, shreds: 5_200, result: '1' }));
    scene.mocks[1]!.become(reporting({ slot: 5_199, result: '2' }));
    await until(() => stateOf('node-1') === 'healthy');
  });

  it('while its slot does not advance, and logs each change once', async () => {
    scene = await stage(
      [reporting({ slot: 5_000, result: '1' }), reporting({ slot: moving(5_000), result: '2' })],
      {
        stallMs: 100,
      },
    );
    scene.pool.start();
    await until(() => stateOf('node-1') === 'behind');
    expect(reasonOf('node-1')).toContain('slot does not advance');
    expect(new Set(await callTimes(10))).toEqual(new Set(['2']));
    scene.mocks[0]!.become(reporting({ slot: moving(5_010), result: '1' }));
    await until(() => stateOf('node-1') === 'healthy');
    const results = scene.logged.map((line) => JSON.parse(line)).filter(({ node }) => node === 'node-1');
    expect(results.map(({ state }) => state)).toEqual(['healthy', 'behind', 'healthy']);
  });

  it('while it reports slots the only other node cannot have reached', async () => {
    scene = await stage([
      reporting({ slot: moving(5_000), result: '1' }),
      reporting({ slot: 5_001, result: '2' }),
    ]);
    scene.pool.start();
    await until(() => scene.pool.status().every(({ state }) => state === 'healthy'));
    scene.mocks[1]!.become(reporting({ slot: 9_000_000, result: '2' }));
    await until(() => stateOf('node-2') === 'ahead');
    expect(stateOf('node-1')).toBe('healthy');
    expect(new Set(await callTimes(10))).toEqual(new Set(['1']));
  });

  it('but used without a better node', async () => {
    const frozen = reporting({ slot: 5_000, shreds: 5_500, result: '1' });
    scene = await stage([frozen, frozen]);
    scene.pool.start();
    await until(() => scene.pool.status().every(({ state }) => state === 'behind'));
    expect(await callTimes(3)).toEqual(['1', '1', '1']);
  });
});

/** Answers polls for its slot and fails all calls. */
const broken: Behaviour = (request, reply, socket) => {
  if (request.method === 'getSlot') healthy()(request, reply, socket);
  else send(reply, 'oops', 500);
};

/** Sends calls until the node's failures are known. */
async function untilKnown(): Promise<void> {
  const { pool } = scene;
  const results: string[] = [];
  await until(() => {
    for (let i = 0; i < 8; i++)
      void request(pool, call('getBalance')).then(({ body }) => results.push(body.toString()));
    return stateOf('node-1') === 'failing';
  });
  await until(() => pool.status().every(({ inFlight }) => inFlight === 0));
  // Calls moved to the other node each time.
  expect(new Set(results)).toEqual(new Set(['2']));
}

describe('node that answers polls but fails calls', () => {
  it('is tested with mirrored calls and re-admitted after successes', async () => {
    scene = await stage([broken, healthy('2')], {
      circuitFailuresMax: 1_000,
      copyShare: 1,
      readmitAnswersMin: 5,
      readmitPollsMin: 10_000,
    });
    const { pool, mocks } = scene;
    pool.start();
    await untilKnown();
    const before = mocks[0]!.count('getBalance');
    expect(new Set(await callTimes(20))).toEqual(new Set(['2']));
    await until(() => mocks[0]!.count('getBalance') > before);
    expect(pool.status()[0]!.copies).toBeGreaterThan(0);
    mocks[0]!.become(healthy('1'));
    while (stateOf('node-1') !== 'healthy') expect(['1', '2']).toContain((await callTimes(1))[0]);
    expect(reasonOf('node-1')).toBeNull();
  });

  it('is re-admitted by polls without traffic and ejected again by one failed call', async () => {
    scene = await stage([broken, healthy('2')], { circuitFailuresMax: 1_000, copyShare: 0 });
    const { pool, mocks } = scene;
    pool.start();
    await untilKnown();
    await until(() => stateOf('node-1') === 'healthy');
    expect(pool.status()[0]!.copies).toBe(0);
    const before = mocks[0]!.count('getBalance');
    while (mocks[0]!.count('getBalance') === before) expect(await callTimes(1)).toEqual(['2']);
    expect(stateOf('node-1')).toBe('failing');
    mocks[0]!.become(healthy('1'));
    await until(() => stateOf('node-1') === 'healthy');
    while (!(await callTimes(1)).includes('1'));
    expect(stateOf('node-1')).toBe('healthy');
  });

  it('receives no mirrored scans or writes', async () => {
    scene = await stage([broken, healthy('2')], {
      circuitFailuresMax: 1_000,
      copyShare: 1,
      readmitPollsMin: 10_000,
    });
    const { pool, mocks } = scene;
    pool.start();
    await untilKnown();
    for (const method of ['getProgramAccounts', 'simulateTransaction', 'sendTransaction', 'getAsset']) {
      for (let i = 0; i < 5; i++) await request(pool, call(method));
      expect(mocks[0]!.count(method)).toBe(0);
    }
  });
});

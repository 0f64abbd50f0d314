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

const askTimes = async (times: number): Promise<string[]> => {
  const told: string[] = [];
  for (let i = 0; i < times; i++) told.push((await request(scene.pool, call('getBalance'))).body.toString());
  return told;
};

/** A slot that has moved whenever it is asked for. */
const moving = (from: number): (() => number) => {
  let slot = from;
  return () => slot++;
};

describe('a node that calls itself healthy is passed over', () => {
  it('while it receives shreds and does not replay them', async () => {
    scene = await stage([
      reporting({ slot: 5_000, shreds: 5_200, result: '1' }),
      reporting({ slot: 5_000, result: '2' }),
    ]);
    scene.pool.start();
    await until(() => stateOf('node-1') === 'behind');
    expect(reasonOf('node-1')).toBe('200 slots received but not replayed');
    expect(new Set(await askTimes(10))).toEqual(new Set(['2']));
    scene.mocks[0]!.become(reporting({ slot: 5_199, shreds: 5_200, result: '1' }));
    scene.mocks[1]!.become(reporting({ slot: 5_199, result: '2' }));
    await until(() => stateOf('node-1') === 'healthy');
  });

  it('while its slot stands still and others go on, and each change is said once', async () => {
    scene = await stage(
      [reporting({ slot: 5_000, result: '1' }), reporting({ slot: moving(5_000), result: '2' })],
      {
        stallMs: 100,
      },
    );
    scene.pool.start();
    await until(() => stateOf('node-1') === 'behind');
    expect(reasonOf('node-1')).toContain('slot does not advance');
    expect(new Set(await askTimes(10))).toEqual(new Set(['2']));
    scene.mocks[0]!.become(reporting({ slot: moving(5_010), result: '1' }));
    await until(() => stateOf('node-1') === 'healthy');
    const told = scene.logged.map((line) => JSON.parse(line)).filter(({ node }) => node === 'node-1');
    expect(told.map(({ state }) => state)).toEqual(['healthy', 'behind', 'healthy']);
  });

  it('while it tells of slots that the only other one cannot have come to', async () => {
    scene = await stage([
      reporting({ slot: moving(5_000), result: '1' }),
      reporting({ slot: 5_001, result: '2' }),
    ]);
    scene.pool.start();
    await until(() => scene.pool.status().every(({ state }) => state === 'healthy'));
    scene.mocks[1]!.become(reporting({ slot: 9_000_000, result: '2' }));
    await until(() => stateOf('node-2') === 'ahead');
    expect(stateOf('node-1')).toBe('healthy');
    expect(new Set(await askTimes(10))).toEqual(new Set(['1']));
  });

  it('and asked all the same when nobody else is better', async () => {
    const frozen = reporting({ slot: 5_000, shreds: 5_500, result: '1' });
    scene = await stage([frozen, frozen]);
    scene.pool.start();
    await until(() => scene.pool.status().every(({ state }) => state === 'behind'));
    expect(await askTimes(3)).toEqual(['1', '1', '1']);
  });
});

/** Tells its slot, and fails at everything else. */
const broken: Behaviour = (request, reply, socket) => {
  if (request.method === 'getSlot') healthy()(request, reply, socket);
  else send(reply, 'oops', 500);
};

/** Many calls at once, so that each node gets some, until the first is known for what becomes of them. */
async function untilKnown(): Promise<void> {
  const { pool } = scene;
  const told: string[] = [];
  await until(() => {
    for (let i = 0; i < 8; i++)
      void request(pool, call('getBalance')).then(({ body }) => told.push(body.toString()));
    return stateOf('node-1') === 'failing';
  });
  await until(() => pool.status().every(({ inFlight }) => inFlight === 0));
  // Customers were taken from it to the other one, each time.
  expect(new Set(told)).toEqual(new Set(['2']));
}

describe('a node whose calls fail while its polls do not', () => {
  it('is tried with copies of calls whose answers nobody gets, and comes back for good answers', async () => {
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
    expect(new Set(await askTimes(20))).toEqual(new Set(['2']));
    await until(() => mocks[0]!.count('getBalance') > before);
    expect(pool.status()[0]!.copies).toBeGreaterThan(0);
    mocks[0]!.become(healthy('1'));
    while (stateOf('node-1') !== 'healthy') expect(['1', '2']).toContain((await askTimes(1))[0]);
    expect(reasonOf('node-1')).toBeNull();
  });

  it('is re-admitted by answered polls without any traffic, and ejected again by one failed call', async () => {
    scene = await stage([broken, healthy('2')], { circuitFailuresMax: 1_000, copyShare: 0 });
    const { pool, mocks } = scene;
    pool.start();
    await untilKnown();
    await until(() => stateOf('node-1') === 'healthy');
    expect(pool.status()[0]!.copies).toBe(0);
    const before = mocks[0]!.count('getBalance');
    while (mocks[0]!.count('getBalance') === before) expect(await askTimes(1)).toEqual(['2']);
    expect(stateOf('node-1')).toBe('failing');
    mocks[0]!.become(healthy('1'));
    await until(() => stateOf('node-1') === 'healthy');
    while (!(await askTimes(1)).includes('1'));
    expect(stateOf('node-1')).toBe('healthy');
  });

  it('gets no copy of what is heavy or has an effect', async () => {
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

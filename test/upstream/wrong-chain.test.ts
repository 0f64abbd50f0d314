import { describe, expect, it } from 'vitest';
import { genesisHashes } from '../../src/upstream/genesis.ts';
import { onMethod } from './mock/behaviors.ts';
import { stageForEach, until } from './mock/pool.ts';
import { type Behaviour, send, sendError } from './mock/server.ts';

const PRIVATE = 'HNSLXWEvvuKfLEZBvAtDy1cWqeSPvZ8Yh1mVrQzWaB3x';

const nodeOf =
  (genesis: string, result: string, slot = 1_000): Behaviour =>
  ({ id, method }, reply) => {
    const own = method === 'getGenesisHash' ? `"${genesis}"` : method === 'getSlot' ? `${slot}` : result;
    send(reply, `{"jsonrpc":"2.0","result":${own},"id":${id}}\n`);
  };

const stage = stageForEach();

const OTHER = 'GWgAHTvmpvnzPBSJmxLtSGAhDGDCZCRFHJ5hdwJiDH5y';

describe('node of another chain', () => {
  it('receives no calls, does not make others look behind, and is logged once', async () => {
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

  it('is the one configured later when two unknown chains tie, which is logged once', async () => {
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

it('a node that rejects getGenesisHash is trusted and not requested again', async () => {
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

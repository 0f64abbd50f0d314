import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { request } from '../../src/protocol/rpc-dispatcher.ts';
import { genesisHashes } from '../../src/upstream/genesis.ts';
import { call, type Scene, stage, until } from './mock/pool.ts';
import { type Behaviour, type Received, send, sendError } from './mock/server.ts';

const PRIVATE = 'HNSLXWEvvuKfLEZBvAtDy1cWqeSPvZ8Yh1mVrQzWaB3x';

/** Node with this genesis; every other response is `result`. */
const nodeOf =
  (genesis: string, result: string, slot = 1_000): Behaviour =>
  ({ id, method }, reply) => {
    const own = method === 'getGenesisHash' ? `"${genesis}"` : method === 'getSlot' ? `${slot}` : result;
    send(reply, `{"jsonrpc":"2.0","result":${own},"id":${id}}\n`);
  };

let scene: Scene;
afterEach(() => scene.close());

const OTHER = 'GWgAHTvmpvnzPBSJmxLtSGAhDGDCZCRFHJ5hdwJiDH5y';

const states = (): string[] => scene.pool.status().map(({ state }) => state);

describe('node of another chain', () => {
  it('receives no calls and does not make others look behind', async () => {
    scene = await stage([
      nodeOf(genesisHashes.devnet, '1'),
      nodeOf(genesisHashes['mainnet-beta'], '2', 9_000_000),
    ]);
    scene.pool.start();
    await until(() => states().join() === 'healthy,wrong-chain');
    for (let i = 0; i < 20; i++)
      expect((await request(scene.pool, call('getBalance'))).body.toString()).toBe('1');
    expect(scene.mocks[1]!.received).toHaveLength(0);
  });

  it('is logged once', async () => {
    scene = await stage([nodeOf(genesisHashes.devnet, '1'), nodeOf(PRIVATE, '2')]);
    scene.pool.start();
    await until(() => states()[1] === 'wrong-chain' && scene.mocks[1]!.polls.length > 6);
    const results = scene.logged.map((line) => JSON.parse(line)).filter(({ node }) => node === 'node-2');
    expect(results.filter(({ state }) => state === 'wrong-chain')).toHaveLength(1);
    expect(results.at(-1)).toMatchObject({ genesisHash: PRIVATE });
  });

  it('is the one configured later when two unknown chains tie, which is logged once', async () => {
    scene = await stage([nodeOf(PRIVATE, '1'), nodeOf(OTHER, '2', 9_000)]);
    scene.pool.start();
    await until(() => states().join() === 'healthy,wrong-chain' && scene.mocks[1]!.polls.length > 6);
    for (let i = 0; i < 20; i++)
      expect((await request(scene.pool, call('getBalance'))).body.toString()).toBe('1');
    const results = scene.logged.map((line) => JSON.parse(line)).filter(({ chains }) => chains !== undefined);
    expect(results).toHaveLength(1);
    expect(results[0].chains).toEqual({ [PRIVATE]: ['node-1'], [OTHER]: ['node-2'] });
    expect(results[0].msg).toContain('solway doctor');
  });

  it('is asked for its genesis once', async () => {
    scene = await stage([nodeOf(PRIVATE, '1'), nodeOf(PRIVATE, '2')]);
    scene.pool.start();
    await until(() => scene.mocks.every(({ polls }) => polls.length > 6));
    for (const { polls } of scene.mocks) {
      expect(polls.filter(({ method }) => method === 'getGenesisHash')).toHaveLength(1);
    }
    expect(states()).toEqual(['healthy', 'healthy']);
  });
});

describe('node without a genesis hash', () => {
  it.each<[string, (request: Received, reply: ServerResponse) => void]>([
    ['in JSON-RPC', ({ id }, reply) => sendError(reply, id, -32601, 'Method not found')],
    ['in HTTP', (_request, reply) => send(reply, 'forbidden', 403)],
  ])('that rejects %s is trusted and not asked again', async (_name, refuse) => {
    const mute: Behaviour = (request, reply, socket) => {
      if (request.method === 'getGenesisHash') refuse(request, reply);
      else nodeOf('', '2')(request, reply, socket);
    };
    scene = await stage([nodeOf(genesisHashes.devnet, '1'), mute], { circuitFailuresMax: 1 });
    scene.pool.start();
    await until(() => scene.mocks[1]!.polls.length > 6);
    expect(scene.mocks[1]!.polls.filter(({ method }) => method === 'getGenesisHash')).toHaveLength(1);
    expect(states()).toEqual(['healthy', 'healthy']);
  });
});

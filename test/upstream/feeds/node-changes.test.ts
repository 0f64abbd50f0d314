import { afterEach, describe, expect, it } from 'vitest';
import { Keypair } from '../../../src/solana/ed25519.ts';
import type { GeyserNode } from '../../../src/upstream/geyser/geyser-node.ts';
import { slotRange } from './chain-json.ts';
import { GeyserRig, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { account, accountIs, signatureOf, transfer } from './geyser-updates.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import type { PubsubMock } from './mock/pubsub-server.ts';
import { stage, subscriptionOf, until } from './stage.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe('changing the nodes', () => {
  it('moves PubSub subscriptions and fills the gap', async () => {
    const scene = await stage([healthy, healthy], {
      answer: (method, params) => (method === 'getBlocks' ? slotRange(params) : undefined),
    });
    closers.push(() => scene.close());
    const [first, second] = scene.mocks as [PubsubMock, PubsubMock];
    const nodeAt = (name: string, { url: ws }: PubsubMock) => ({ name, url: 'http://127.0.0.1:1/', ws });
    scene.feed.setNodes([nodeAt('first', first)]);
    const roots = new Recorder();
    await scene.feed.open(subscriptionOf('root'), roots);
    for (const peer of first.peers) peer.notify('root', 968);
    await roots.until(({ raw }) => raw.length === 1, 'the first root');
    scene.feed.setNodes([nodeAt('second', second)]);
    await until(() => second.count('rootSubscribe') === 1, 'the other node is used');
    for (const peer of second.peers) await peer.read();
    second.tick();
    await roots.until(({ raw }) => raw.at(-1) === '969', 'the missed root');
    expect([roots.raw, roots.failures]).toEqual([['968', '969'], []]);
    await until(() => first.peers.size === 0, 'the first node is disconnected');
  });

  it('returns subscriptions to a node of a better priority once it is healthy', async () => {
    let isFirstHealthy = false;
    const scene = await stage([healthy, healthy], {
      answer: (method, params) => (method === 'getBlocks' ? slotRange(params) : undefined),
      limits: { failBackMs: 100 },
      stateOf: (name) => (name === 'node-1' && !isFirstHealthy ? 'failing' : 'healthy'),
    });
    closers.push(() => scene.close());
    const [first, second] = scene.mocks as [PubsubMock, PubsubMock];
    const nodeAt = (name: string, { url: ws }: PubsubMock, priority: number) => ({
      ...{ name, url: 'http://127.0.0.1:1/', ws, priority },
    });
    scene.feed.setNodes([nodeAt('node-1', first, 1), nodeAt('node-2', second, 2)]);
    const roots = new Recorder();
    await scene.feed.open(subscriptionOf('root'), roots);
    expect([first, second].map((mock) => mock.count('rootSubscribe'))).toEqual([0, 1]);
    for (const peer of second.peers) peer.notify('root', 968);
    await roots.until(({ raw }) => raw.length === 1, 'the first root');
    isFirstHealthy = true;
    await until(() => first.count('rootSubscribe') === 1, 'the better node is used');
    for (const peer of first.peers) await peer.read();
    first.tick();
    await roots.until(({ raw }) => raw.at(-1) === '969', 'the missed root');
    expect([roots.raw, roots.failures]).toEqual([['968', '969'], []]);
    await until(() => second.peers.size === 0, 'the other node is disconnected');
    await scene.feed.open(subscriptionOf('logs', 'all'), new Recorder());
    expect([first, second].map((mock) => mock.count('logsSubscribe'))).toEqual([1, 0]);
  });
});

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;

async function servers(): Promise<[GeyserServer, GeyserServer]> {
  const both = [
    await GeyserServer.start('a-secret-token'),
    await GeyserServer.start('a-secret-token'),
  ] as const;
  closers.push(...both.map((server) => () => server.stop()));
  return [...both];
}

const nodeOf = (name: string, { url: grpc }: GeyserServer): GeyserNode => ({
  name,
  url: 'http://127.0.0.1:1',
  grpc,
  headers: { 'X-Token': 'a-secret-token' },
});

describe('changing the Geyser servers', () => {
  it('moves subscriptions, and fails them when no server is left', async () => {
    const [server, other] = await servers();
    const rig = new GeyserRig([server.url]);
    closers.push(() => rig.close());
    await rig.start(server);
    const recorder = await rig.open(watch(address));
    server.slot(100, accountIs(100, address, account(1), 1, signatureOf(transfer(1))));
    await recorder.count(1);
    await until(() => rig.feed.position()?.slot === 100n, 'the slot is complete');
    rig.source.setNodes([nodeOf('other', other)]);
    await other.until(() => other.requests.length > 0);
    expect(other.requests[0]).toMatchObject({ fromSlot: '97', accounts: { a0: { account: [address] } } });
    other.slot(100, accountIs(100, address, account(1), 1, signatureOf(transfer(1))));
    other.slot(101, accountIs(101, address, account(2), 2, signatureOf(transfer(2))));
    await recorder.count(2);
    expect(recorder.results.map(({ value }) => value.lamports)).toEqual([1, 2]);
    rig.source.setNodes([]);
    await recorder.until(({ failure }) => failure !== null, 'the failure');
    await expect(rig.open(watch(address))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

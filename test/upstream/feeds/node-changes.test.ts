import { afterEach, describe, expect, it } from 'vitest';
import { Keypair } from '../../../src/solana/ed25519.ts';
import type { GeyserNode } from '../../../src/upstream/geyser/geyser-node.ts';
import type { NodeConfig } from '../../../src/upstream/node.ts';
import { GeyserRig, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { account, accountIs, signatureOf, transfer } from './geyser-updates.ts';
import { LedgerScene } from './ledger-scene.ts';
import { Recorder } from './listener.ts';
import { subscriptionOf, until } from './stage.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe('changing the nodes', () => {
  it('moves PubSub subscriptions without loss or duplicates', async () => {
    const scene = await LedgerScene.open({ slotMs: 40 });
    closers.push(() => scene.close());
    const nodes: NodeConfig[] = scene.upstreams.map((way, index) => ({
      name: `node-${index + 1}`,
      url: `http://127.0.0.1:${way.port(0)}/`,
      ws: `ws://127.0.0.1:${way.port(1)}/`,
    }));
    const [first, second] = nodes as [NodeConfig, NodeConfig];
    scene.feed.setNodes([first]);
    // The margin of a gap contains no earlier transactions.
    await scene.slots(12);
    const logs = new Recorder();
    await scene.feed.open(subscriptionOf('logs', 'all', { commitment: 'confirmed' }), logs);
    scene.traffic(10);
    await scene.slots(5);
    scene.feed.setNodes([second]);
    await scene.slots(8);
    scene.feed.setNodes([{ ...first, name: 'first-again' }]);
    await scene.slots(8);
    scene.calm();
    const end = scene.send();
    await logs.until(({ raw }) => raw.some((text) => text.includes(end)), 'the last transaction');
    const signatures = logs.results.map(({ value }) => value.signature);
    const [from, to] = [logs.results[0].context.slot, logs.results.at(-1).context.slot];
    expect(signatures).toEqual(scene.signatures(from, to));
    expect(signatures.length).toBeGreaterThan(5);
    expect(logs.failures).toEqual([]);
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
  it('moves subscriptions, and fails them without servers', async () => {
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
    await recorder.until(() => recorder.failure !== null);
    await expect(rig.open(watch(address))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });
});

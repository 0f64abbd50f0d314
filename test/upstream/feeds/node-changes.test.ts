import { afterEach, describe, expect, it } from 'vitest';
import { Keypair } from '../../../src/solana/ed25519.ts';
import type { NodeConfig } from '../../../src/upstream/node.ts';
import { SourceRig, wholeSlot } from '../geyser/source-rig.ts';
import { GeyserRig, watch } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { account, accountIs, signatureOf, slotIs, transfer } from './geyser-updates.ts';
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
    // Beyond the margin of a gap nothing lies that was there before.
    await scene.slots(12);
    const logs = new Recorder();
    await scene.feed.open(subscriptionOf('logs', 'all', { commitment: 'confirmed' }), logs);
    scene.traffic(10);
    await scene.slots(5);
    scene.feed.setNodes([second]);
    await scene.slots(8);
    expect(scene.feed.setNodes([{ ...first, name: 'first-again' }])).toBe(true);
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

  it('reports that a first Geyser node requires a restart', async () => {
    const scene = await LedgerScene.open({ slotMs: 200 });
    closers.push(() => scene.close());
    expect(scene.feed.setNodes([{ name: 'x', url: 'http://127.0.0.1:1', grpc: 'http://127.0.0.1:1' }])).toBe(
      false,
    );
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

const nodeOf = (name: string, { url: grpc }: GeyserServer): NodeConfig => ({
  name,
  url: 'http://127.0.0.1:1',
  grpc,
  headers: { 'X-Token': 'a-secret-token' },
});

describe('changing the Geyser servers', () => {
  it('moves subscriptions, and fails them without servers', async () => {
    const [server, other] = await servers();
    const rig = new GeyserRig([server.url]);
    closers.push(() => rig.feed.close());
    const recorder = await rig.open(watch(address));
    server.send(slotIs(100, 'created'));
    server.send(accountIs(100, address, account(1), 1, signatureOf(transfer(1))));
    server.send(slotIs(100, 'processed'));
    await recorder.count(1);
    await until(() => rig.feed.position()?.slot === 100n, 'the slot is told to its end');
    rig.feed.setNodes([nodeOf('other', other)]);
    await other.until(() => other.requests.length > 0);
    expect(other.requests[0]?.fromSlot).toBe('100');
    other.send(slotIs(101, 'created', 100));
    other.send(accountIs(101, address, account(2), 2, signatureOf(transfer(2))));
    other.send(slotIs(101, 'processed', 100));
    await recorder.count(2);
    expect(recorder.results.map(({ value }) => value.lamports)).toEqual([1, 2]);
    rig.feed.setNodes([]);
    await recorder.until(() => recorder.failure !== null);
    await expect(rig.open(watch(address))).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  });

  it('emits each slot once across remaining and new servers', async () => {
    const [server, other] = await servers();
    const rig = new SourceRig([server]);
    closers.push(() => rig.source.close());
    await server.until(() => server.pings.length > 0);
    for (const update of wholeSlot(100)) server.send(update);
    await rig.untilEmitted('100 processed');
    rig.source.setNodes(
      [nodeOf('node-0', server), nodeOf('other', other)].map((node) => ({ ...node, grpc: node.grpc! })),
    );
    await other.until(() => other.pings.length > 0);
    rig.source.setNodes([{ ...nodeOf('other', other), grpc: other.url }]);
    for (const slot of [100, 101, 102]) for (const update of wholeSlot(slot)) other.send(update);
    await rig.untilEmitted('102 processed');
    expect(rig.emitted.filter((line) => line.endsWith('processed'))).toEqual([
      '100 processed',
      '101 processed',
      '102 processed',
    ]);
  });
});

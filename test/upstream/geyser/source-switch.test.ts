import { afterEach, expect, it } from 'vitest';
import type { SubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { GeyserHub } from '../../../src/streams/geyser/geyser-hub.ts';
import { decodeGetSlotResponse, encodeCommitmentRequest } from '../../geyser/unary-client.ts';
import { RecordingSink } from '../../streams/raw-slots.ts';
import { GeyserServer } from '../feeds/geyser-server.ts';
import { wholeSlot } from '../feeds/geyser-updates.ts';
import { PubsubFallbackStage, plain } from './pubsub-fallback-stage.ts';
import { blockOf } from './source-rig.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const metas: SubscribeRequest = { blocksMeta: ['m'] };

/** A hub with one node that has Geyser and one that does not. */
async function start() {
  const server = await GeyserServer.start();
  closers.push(() => server.stop());
  const hub = new GeyserHub();
  const geyser = { ...plain, name: 'geyser', grpc: server.url };
  const stage = new PubsubFallbackStage({ requestDelayMs: 1, reconnectMs: 5 }, [plain, geyser], hub);
  closers.push(() => stage.source.close());
  hub.setSource(stage.source);
  const opened = async (request = metas) => {
    const sink = new RecordingSink();
    await hub.open('Subscribe', sink).request(request);
    return sink;
  };
  await server.until(() => server.pings.length > 0);
  return { server, stage, hub, geyser, opened };
}

const slotIn = (hub: GeyserHub): bigint | undefined =>
  decodeGetSlotResponse(hub.unary('GetSlot', encodeCommitmentRequest({})));

it('streams switch to PubSub and blocks when the last Geyser node is removed, and back to Geyser', async () => {
  const { server, stage, hub, geyser, opened } = await start();
  const before = await opened();
  for (const update of wholeSlot(100)) server.send(update);
  await stage.until(() => stage.emitted.includes('100 processed'));
  expect(before.take()).toEqual(['m meta 100']);
  for (const slot of [99, 100]) stage.blocks.set(slot, blockOf(slot, 9));

  stage.source.setNodes([plain]);
  expect([stage.source.isGeyser, hub.size]).toEqual([false, 0]);
  expect(before.ended).toMatchObject({ code: 'UNAVAILABLE' });
  expect(() => slotIn(hub)).toThrow('block is not available yet');
  const between = await opened();
  await stage.until(() => stage.open.has('slot') && stage.open.has('root'));
  stage.slot(100);
  await stage.source.subscribe(metas, null).ready;
  stage.blocks.set(101, blockOf(101, 1));
  stage.slot(102);
  await stage.until(() => stage.emitted.includes('101 confirmed'));
  expect(between.take()).toEqual(['m meta 101']);
  expect(slotIn(hub)).toBe(101n);

  stage.source.setNodes([plain, geyser]);
  expect(stage.source.isGeyser).toBe(true);
  expect(between.ended).toMatchObject({ code: 'UNAVAILABLE' });
  expect([...stage.open.keys()]).toEqual([]);
  const after = await opened();
  const pings = server.pings.length;
  await server.until(() => server.pings.length > pings);
  for (const update of wholeSlot(102)) server.send(update);
  await stage.until(() => stage.emitted.includes('102 processed'));
  expect(after.take()).toEqual(['m meta 102']);
  expect(stage.log).toEqual([
    expect.stringContaining('No node has Geyser'),
    expect.stringContaining('Geyser available'),
  ]);
});

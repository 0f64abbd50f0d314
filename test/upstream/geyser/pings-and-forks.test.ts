import { afterEach, expect, it } from 'vitest';
import { GeyserServer } from '../feeds/geyser-server.ts';
import { countsAre, metaIs, slotIs, transactionIs, transfer, wholeSlot } from '../feeds/geyser-updates.ts';
import { SourceRig, sendOn } from './source-rig.ts';

const tx = (slot: number, number: number) => transactionIs(slot, transfer(number), number);

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

async function start() {
  const server = await GeyserServer.start();
  const rig = new SourceRig([server]);
  opened.push(
    () => rig.source.close(),
    () => server.stop(),
  );
  await server.until(() => server.pings.length > 0);
  return { server, rig };
}

it('answers each ping of a server, whose load balancer would otherwise end the stream', async () => {
  const { server, rig } = await start();
  sendOn(server.stream, wholeSlot(100));
  await rig.untilEmitted('100 processed');
  const before = server.pings.length;
  const answers = (): number[] => server.pings.slice(before).filter((id) => id === 1);
  for (let id = 1; id <= 3; id++) {
    sendOn(server.stream, [{ ping: {} }]);
    await server.until(() => answers().length === id);
  }
  expect(server.requests).toHaveLength(1);
});

/** The end of a slot. */
const endOn = (slot: number, parent: number) => [
  countsAre(slot, 0, parent),
  metaIs(slot, parent),
  slotIs(slot, 'processed', parent),
];

it('emits nothing of a fork once a slot above it is finalized', async () => {
  const { server, rig } = await start();
  await rig.source.subscribe({ transactions: new Map([['t', {}]]) }, null).ready;
  sendOn(server.stream, [...wholeSlot(100), slotIs(101, 'created'), tx(101, 1)]);
  sendOn(server.stream, [slotIs(102, 'created', 100), ...endOn(102, 100)]);
  sendOn(server.stream, [slotIs(102, 'finalized', 100)]);
  await rig.untilEmitted('102 finalized');
  sendOn(server.stream, [tx(101, 2), ...endOn(101, 100), ...wholeSlot(103)]);
  await rig.untilEmitted('103 processed');
  expect(rig.of(101)).toEqual(['createdBank', 'transfer 1']);
  expect(rig.of(102).at(-1)).toBe('finalized');
  expect(rig.lost).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { Keypair } from '../../../src/solana/ed25519.ts';
import type { GeyserServer, UpdateMessage } from '../feeds/geyser-server.ts';
import {
  account,
  accountIs,
  countsAre,
  endOf,
  entryIs,
  metaIs,
  slotIs,
  transactionIs,
  transfer,
  wholeSlot,
} from '../feeds/geyser-updates.ts';
import { blockOf, sendOn, startSource } from './source-rig.ts';

const address = Keypair.fromSeed(new Uint8Array(32).fill(1)).address;
const UNAVAILABLE = 14;
const OUT_OF_RANGE = 11;
const all = { transactions: new Map([['t', {}]]) };
const accountsToo = { ...all, accounts: new Map([['a', {}]]) };
const tx = (slot: number, number: number) => transactionIs(slot, transfer(number), number);

/** Answers replays from a list of slots, and everything else only when the test sends it. */
function replaysFrom(server: GeyserServer, slots: ReadonlyMap<number, readonly UpdateMessage[]>): void {
  server.onRequest = (request, stream) => {
    if (request.fromSlot === undefined) return;
    for (const [slot, updates] of slots) if (slot >= Number(request.fromSlot)) sendOn(stream, updates);
  };
}

function refusesReplay(server: GeyserServer): void {
  server.onRequest = (request, stream) => {
    if (request.fromSlot === undefined) return;
    stream.emit('error', {
      code: OUT_OF_RANGE,
      details: 'broadcast from 1 is not available, last available: 900',
    });
  };
}

describe('one Geyser server', () => {
  it('is forwarded, each slot once the next bank exists, with the account count in its meta', async () => {
    const { rig, server } = await startSource(1);
    await rig.source.subscribe(all, null).ready;
    sendOn(server.stream, [tx(99, 1), ...endOf(99)]);
    sendOn(server.stream, [
      slotIs(100, 'firstShred'),
      slotIs(100, 'created'),
      tx(100, 2),
      entryIs(100, 0),
      tx(100, 2),
      accountIs(100, address, account(7), 1),
      countsAre(100, 12),
      metaIs(100),
      slotIs(100, 'processed'),
      tx(100, 3),
      slotIs(100, 'confirmed'),
      slotIs(100, 'finalized'),
      slotIs(101, 'created'),
    ]);
    await rig.untilEmitted('101 createdBank');
    expect(rig.emitted).toEqual([
      '100 createdBank',
      '100 transfer 2',
      '100 entry 0',
      '100 account 7',
      '100 meta 12',
      '100 processed',
      '100 confirmed',
      '100 finalized',
      '101 createdBank',
    ]);
    expect(rig.lost).toEqual([]);
  });

  it('without blocks ends slots on confirmation, and after a few without waiting', async () => {
    const { rig, server } = await startSource(1);
    const blockless = (slot: number) => [slotIs(slot, 'created'), metaIs(slot), slotIs(slot, 'processed')];
    for (const slot of [100, 101, 102]) sendOn(server.stream, blockless(slot));
    await rig.untilEmitted('102 createdBank');
    expect(rig.emitted.filter((line) => line.endsWith('processed'))).toEqual([]);
    for (const slot of [100, 101, 102]) sendOn(server.stream, [slotIs(slot, 'confirmed')]);
    await rig.untilEmitted('102 confirmed');
    expect(rig.of(100)).toEqual(['createdBank', 'meta', 'processed', 'confirmed']);
    sendOn(server.stream, blockless(103));
    await rig.untilEmitted('103 processed');
  });

  it('reports commitments of slots before the first one, each once', async () => {
    const { rig, server } = await startSource(1);
    const earlier: string[] = [];
    const listener = { onUpdate: () => {}, onLost: () => {}, onReset: () => {} };
    rig.source.addListener({
      ...listener,
      onEarlierStatus: ({ slot, status }) => earlier.push(`${slot} ${status}`),
    });
    sendOn(server.stream, [slotIs(90, 'finalized'), slotIs(100, 'created'), slotIs(95, 'finalized')]);
    sendOn(server.stream, [slotIs(95, 'finalized'), slotIs(94, 'finalized'), slotIs(98, 'confirmed')]);
    sendOn(server.stream, [slotIs(97, 'processed'), slotIs(101, 'created')]);
    await rig.untilEmitted('101 createdBank');
    expect(earlier).toEqual(['95 finalized', '98 confirmed']);
    expect(rig.emitted).toEqual(['100 createdBank', '101 createdBank']);
  });

  it('answers each ping of a server, whose load balancer would otherwise end the stream', async () => {
    const { server, rig } = await startSource(1);
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

  it('emits nothing of a fork once a slot above it is finalized', async () => {
    const { server, rig } = await startSource(1);
    await rig.source.subscribe({ transactions: new Map([['t', {}]]) }, null).ready;
    sendOn(server.stream, [...wholeSlot(100), slotIs(101, 'created'), tx(101, 1)]);
    sendOn(server.stream, [slotIs(102, 'created', 100), ...endOf(102, 100)]);
    sendOn(server.stream, [slotIs(102, 'finalized', 100)]);
    await rig.untilEmitted('102 finalized');
    sendOn(server.stream, [tx(101, 2), ...endOf(101, 100), ...wholeSlot(103)]);
    await rig.untilEmitted('103 processed');
    expect(rig.of(101)).toEqual(['createdBank', 'transfer 1']);
    expect(rig.of(102).at(-1)).toBe('finalized');
    expect(rig.lost).toEqual([]);
  });
});

describe('a server that dies in the middle of a slot', () => {
  it('sends the rest in a replay after reconnecting', async () => {
    const { rig, server } = await startSource(1);
    await rig.source.subscribe(accountsToo, null).ready;
    sendOn(server.stream, [...wholeSlot(100), slotIs(101, 'created'), tx(101, 1)]);
    await rig.untilEmitted('101 transfer 1');
    replaysFrom(
      server,
      new Map([
        [100, wholeSlot(100)],
        // A replay need not tell of banks.
        [101, [tx(101, 1), tx(101, 2), ...endOf(101)]],
        [102, wholeSlot(102, tx(102, 3))],
      ]),
    );
    server.fail(UNAVAILABLE, 'bye');
    await rig.untilEmitted('102 processed');
    expect(rig.of(101)).toEqual(['createdBank', 'transfer 1', 'transfer 2', 'meta', 'processed']);
    expect(rig.of(100)).toEqual(['createdBank', 'meta', 'processed']);
    expect(rig.lost).toEqual([]);
  });

  it('is replaced by blocks without replay, reporting the missing kinds', async () => {
    const { rig, server } = await startSource(1);
    await rig.source.subscribe(accountsToo, null).ready;
    sendOn(server.stream, [...wholeSlot(100), slotIs(101, 'created'), tx(101, 1)]);
    await rig.untilEmitted('101 transfer 1');
    refusesReplay(server);
    for (const [slot, numbers] of [
      [101, [1, 2]],
      [102, [3]],
    ] as const)
      rig.blocks.set(slot, blockOf(slot, ...numbers));
    server.fail(UNAVAILABLE, 'bye');
    await server.until(() => server.requests.at(-1)?.fromSlot === undefined && server.streams.length > 2);
    sendOn(server.stream, [tx(102, 3), ...endOf(102), ...wholeSlot(103, tx(103, 4))]);
    await rig.untilEmitted('103 processed');
    expect(rig.of(101)).toEqual([
      'createdBank',
      'transfer 1',
      'transfer 2',
      'meta',
      'processed',
      'confirmed',
    ]);
    expect(rig.of(102)).toEqual(['createdBank', 'transfer 3', 'meta', 'processed', 'confirmed']);
    expect(rig.lost).toEqual(['101-101 account', '102-102 account']);
  });

  it('reports lost slots without blocks, and continues', async () => {
    const { rig, server } = await startSource(1, { fillTimeoutMs: 100 });
    sendOn(server.stream, wholeSlot(100));
    await rig.untilEmitted('100 processed');
    refusesReplay(server);
    server.fail(UNAVAILABLE, 'bye');
    await server.until(() => server.requests.at(-1)?.fromSlot === undefined && server.streams.length > 2);
    sendOn(server.stream, wholeSlot(105));
    await rig.untilEmitted('105 processed');
    expect(rig.lost).toEqual(['101-104 account blockMeta entry slot transaction']);
    expect(rig.emitted.filter((line) => /^10[1-4]/.test(line))).toEqual([]);
  });
});

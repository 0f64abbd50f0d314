import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { encodeTimestamp } from '../../src/protocol/geyser/encode/envelope.ts';
import { rawSlot } from '../../src/protocol/geyser/encode/raw-slot.ts';
import { encodeEntryMessage } from '../../src/protocol/shredstream/entries.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { makeShreds } from '../../src/solana/shred/make-shreds.ts';
import { slot as slotOf } from '../../src/solana/units.ts';
import type { DeshredSlot, DeshredTransaction, EntryBatch } from '../../src/streams/deshred/deshred-event.ts';
import { DeshredHub } from '../../src/streams/deshred/deshred-hub.ts';
import { DeshredClient, EntriesClient } from '../../src/upstream/shreds/shred-clients.ts';
import { ShredStage, type ShredStageOptions } from '../../src/upstream/shreds/shred-stage.ts';
import { type ShredsConfig, shredLimits } from '../../src/upstream/shreds/shreds-config.ts';
import { TEST_SHRED_VERSION, testLeader, testLeaderKey } from './deshred-rig.ts';
import { generateEntries, generateWire, MessageSink } from './generated-transactions.ts';
import { ScriptedServer } from './grpc-servers.ts';

const noShreds: ShredsConfig = { udp: null, entries: [], deshred: [], shredVersion: null };

/** Any free loopback port, with any sender. */
const UDP = { host: '127.0.0.1', port: 0, senders: [] };

type ReaderScript = Readonly<{
  /** Leader of slots 0 to 99. */
  leader: Uint8Array;
  shredVersion: number;
}>;

function scriptedReader({ leader, shredVersion }: ReaderScript) {
  const requested: string[] = [];
  const responses: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    getEpochInfo: () => ({ absoluteSlot: 50, epoch: 0, slotIndex: 50, slotsInEpoch: 100 }),
    getLeaderSchedule: ([first]) =>
      first === 0n ? { [addressFromBytes(leader)]: [...Array(100).keys()] } : null,
    getClusterNodes: () => [{ shredVersion }],
    getMultipleAccounts: ([addresses]) => ({
      context: { slot: 50 },
      value: (addresses as string[]).map(() => null),
    }),
  };
  const request: ShredStageOptions['reader']['request'] = async (method, params) => {
    requested.push(method);
    return Buffer.from(JSON.stringify(responses[method]?.(params as readonly unknown[]) ?? null));
  };
  return { request, requested };
}

/** A stage with a hub, and a stream for each method that subscribes to everything. */
async function startStage(options: Partial<ShredStageOptions> & Pick<ShredStageOptions, 'reader'>) {
  const hub = new DeshredHub();
  const log = createLogger('silent', () => {});
  const stage = new ShredStage({ config: noShreds, log, ...options }, hub);
  onTestFinished(() => stage.close());
  await stage.start();
  const sinks = { subscribe: new MessageSink(), deshred: new MessageSink(), entries: new MessageSink() };
  const slots = new Map([['slots', { interslotUpdates: true }]]);
  const everything = new Map([['all', {}]]);
  await hub.open('Subscribe', sinks.subscribe).request({ transactions: everything });
  await hub.open('SubscribeDeshred', sinks.deshred).request({ deshredTransactions: everything, slots });
  hub.open('SubscribeEntries', sinks.entries);
  return { stage, hub, ...sinks };
}

async function sendPackets(stage: ShredStage, packets: readonly Uint8Array[]): Promise<void> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = stage.udpAddress!;
  for (const packet of packets) {
    await new Promise<void>((resolve, reject) =>
      socket.send(packet, port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error))),
    );
  }
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}

async function ticksUntil(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

const packetsOf = (slot: number, entries: Uint8Array): readonly Uint8Array[] =>
  makeShreds({
    ...{ slot: slotOf(slot), parentOffset: 1, version: TEST_SHRED_VERSION, fecSetIndex: 0, entries },
    ...{ chainedRoot: new Uint8Array(32), referenceTick: 0, isLastInSlot: true },
    sign: (root) => testLeader.sign(root),
  }).packets;

const made = { leader: testLeaderKey, shredVersion: TEST_SHRED_VERSION };
const LOOKUP = [{ table: 60, writable: [3], readonly: [1, 2] }];
const batch = generateEntries(
  generateWire({ name: 1 }),
  generateWire({ name: 2, lookups: LOOKUP }),
  generateWire({ name: 3 }),
);

const server = (port: number) => ({ name: 'scripted', url: `http://127.0.0.1:${port}`, headers: {} });

async function scriptedServer(): Promise<ScriptedServer> {
  const scripted = await ScriptedServer.start();
  onTestFinished(() => scripted.stop());
  return scripted;
}

/** The first bytes of the signatures, because the transaction codec is not published. */
const signatures = (updates: readonly SubscribeUpdateDeshred[]): number[] =>
  updates.flatMap(({ deshredTransaction }) => [
    ...(deshredTransaction?.transaction?.signature.subarray(0, 1) ?? []),
  ]);

describe('ShredStage', () => {
  it('emits UDP shreds to every kind of subscriber, and requests leaders and shred version itself', async () => {
    const config = { ...noShreds, udp: UDP };
    const { stage, subscribe, deshred, entries } = await startStage({ config, reader: scriptedReader(made) });
    await sendPackets(stage, packetsOf(50, batch));
    await ticksUntil(() => deshred.messages.length >= 5);
    expect(subscribe.updates.map(({ transaction }) => transaction?.transaction?.signature[0])).toEqual([
      1, 2, 3,
    ]);
    const [first, ...rest] = deshred.deshredUpdates;
    expect([first?.slot?.status, rest.at(-1)?.slot?.status]).toEqual([3, 4]);
    expect(signatures(rest)).toEqual([1, 2, 3]);
    const { completedDataSetStartingShredIndex: start, completedDataSetEndingShredIndexExclusive: end } =
      rest[0]!.deshredTransaction!.transaction!;
    expect([start, end]).toEqual([0, 32]);
    expect(entries.batches).toEqual([{ slot: 50n, entries: batch }]);
    expect(stage.counts.shreds).toMatchObject({ batches: 1, slotsCompleted: 1 });
  });

  it('emits each item once, no matter which source is first', async () => {
    const scripted = await scriptedServer();
    const config = {
      ...{ udp: UDP, shredVersion: TEST_SHRED_VERSION },
      ...{ entries: [server(scripted.port)], deshred: [server(scripted.port)] },
    };
    const { stage, subscribe, deshred, entries } = await startStage({ config, reader: scriptedReader(made) });
    await scripted.until(() => scripted.entriesCalls.length === 1 && scripted.requests.length === 1);
    const [proxy, other] = [scripted.entriesCalls[0]!, scripted.deshredCalls[0]!];
    // The other server's copy of a transaction arrives first.
    const expected = SubscribeUpdateDeshred.fromPartial({
      deshredTransaction: {
        slot: '50',
        transaction: { signature: new Uint8Array(64).fill(2), transaction: { signatures: [] } },
      },
    });
    other.write(expected);
    await deshred.received(1);
    proxy.write(Buffer.from(encodeEntryMessage(slotOf(50), batch)));
    await entries.received(1);
    await sendPackets(stage, packetsOf(50, batch));
    proxy.write(Buffer.from(encodeEntryMessage(slotOf(50), batch)));
    proxy.write(Buffer.from(encodeEntryMessage(slotOf(51), batch)));
    await ticksUntil(() => entries.messages.length === 2 && subscribe.messages.length === 6);
    await ticksUntil(() => stage.counts.shreds?.slotsCompleted === 1);
    expect(entries.batches.map(({ slot }) => slot)).toEqual([50n, 51n]);
    expect(
      subscribe.updates.map(({ transaction }) => [transaction?.slot, transaction?.transaction?.signature[0]]),
    ).toEqual([
      ['50', 2],
      ['50', 1],
      ['50', 3],
      ['51', 1],
      ['51', 2],
      ['51', 3],
    ]);
    expect(stage.counts.duplicates).toBe(1);
  });

  it('forwards slot updates', async () => {
    const { stage, deshred } = await startStage({ reader: scriptedReader(made) });
    const createdAt = encodeTimestamp(1n);
    for (const status of ['processed', 'confirmed', 'confirmed'] as const) {
      const slot = { kind: 'slot', slot: slotOf(50), parent: slotOf(49), status, deadError: null } as const;
      stage.onUpdate(rawSlot(slot, createdAt));
    }
    expect(deshred.deshredUpdates.map(({ slot }) => slot?.status)).toEqual([0, 1]);
  });
});

const TOKEN = 'a-secret-token-of-a-server';

async function scene(limits: Partial<typeof shredLimits> = {}) {
  const server = await ScriptedServer.start();
  const batches: EntryBatch[] = [];
  const transactions: DeshredTransaction[] = [];
  const slots: DeshredSlot[] = [];
  const lines: string[] = [];
  let waiting: (() => void)[] = [];
  const stored =
    <T>(list: T[]) =>
    (one: T): void => {
      list.push(one);
      for (const wake of waiting.splice(0)) wake();
    };
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const options = {
    server: { name: 'scripted', url: server.url, headers: { 'x-token': TOKEN } },
    limits: { ...shredLimits, reconnectMs: 5, reconnectMaxMs: 20, ...limits },
    log: createLogger('warn', stored(lines)),
    listener: { onBatch: stored(batches), onTransaction: stored(transactions), onSlot: stored(slots) },
  };
  const entries = new EntriesClient(options);
  const deshred = new DeshredClient(options);
  onTestFinished(() => {
    waiting = [];
    entries.close();
    deshred.close();
    server.stop();
  });
  return { server, entries, deshred, batches, transactions, slots, lines, until };
}

const entryMessage = (slot: number, name: number): Buffer =>
  Buffer.from(encodeEntryMessage(slotOf(slot), generateEntries(generateWire({ name }))));

describe('EntriesClient', () => {
  it('emits the batches of a ShredStream proxy', async () => {
    const { server, entries, batches, until } = await scene();
    entries.start();
    await server.until(() => server.entriesCalls.length === 1);
    server.entriesCalls[0]!.write(entryMessage(9, 1));
    server.entriesCalls[0]!.write(entryMessage(10, 2));
    await until(() => batches.length === 2);
    expect(server.tokens).toEqual([TOKEN]);
    expect(batches.map(({ slot }) => slot)).toEqual([9n, 10n]);
    expect(Buffer.from(batches[1]!.entries).equals(generateEntries(generateWire({ name: 2 })))).toBe(true);
    expect([batches[0]!.firstShredIndex, batches[0]!.endShredIndex]).toEqual([0, 0]);
    expect(Math.abs(Number(batches[0]!.at) - Date.now())).toBeLessThan(60_000);
  });

  it('reconnects when the stream ends, and logs the error without secrets', async () => {
    const { server, entries, batches, lines, until } = await scene();
    entries.start();
    await server.until(() => server.entriesCalls.length === 1);
    server.entriesCalls[0]!.emit('error', { code: 14, details: `go away, ${TOKEN}` });
    await server.until(() => server.entriesCalls.length === 2);
    server.entriesCalls[1]!.write(entryMessage(11, 3));
    await until(() => batches.length === 1);
    expect(lines.join()).toContain('UNAVAILABLE');
    expect(lines.join()).not.toContain(TOKEN);
  });

  it('reconnects when the server sends no new slots', async () => {
    const { server, entries } = await scene({ stallMs: 200 });
    entries.start();
    await server.until(() => server.entriesCalls.length === 1);
    const [first] = server.entriesCalls;
    const same = setInterval(() => first!.write(entryMessage(9, 1)), 20);
    onTestFinished(() => clearInterval(same));
    await server.until(() => server.entriesCalls.length === 2);
    await ticksUntil(() => first!.cancelled);
  });
});

describe('DeshredClient', () => {
  it('emits slots and answers pings', async () => {
    const { server, deshred, slots, until } = await scene();
    deshred.start();
    await server.until(() => server.requests.length === 1);
    const [call] = server.deshredCalls;
    call!.write(SubscribeUpdateDeshred.fromPartial({ ping: {} }));
    call!.write(SubscribeUpdateDeshred.fromPartial({ slot: { slot: '9', parent: '8', status: 3 } }));
    call!.write(SubscribeUpdateDeshred.fromPartial({ slot: { slot: '9', status: 6, deadError: 'why' } }));
    await until(() => slots.length === 2);
    await server.until(() => server.requests.length === 2);
    expect(server.requests[1]!.ping).toEqual({ id: 1 });
    expect(slots[0]).toMatchObject({ slot: 9n, parent: 8n, status: 'firstShredReceived' });
    expect(slots[1]).toMatchObject({ slot: 9n, parent: null, status: 'dead', deadError: 'why' });
  });
});

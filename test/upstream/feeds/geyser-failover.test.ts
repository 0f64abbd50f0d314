import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/log.ts';
import { createFeed } from '../../../src/upstream/feeds/feeds.ts';
import { dispatcherOf } from '../mock/dispatcher.ts';
import { GeyserRig } from './geyser-rig.ts';
import { GeyserServer } from './geyser-server.ts';
import { signatureOf, slotIs, transactionIs, transfer } from './geyser-updates.ts';
import { Recorder } from './listener.ts';
import { healthy } from './mock/pubsub-behaviors.ts';
import { PubsubMock } from './mock/pubsub-server.ts';
import { subscriptionOf, testLimits, until } from './stage.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** The newest confirmed and finalized block of the chain. */
const TIP = 110;
const PER_BLOCK = 2;

const transactionAt = (slot: number, index: number) => transfer((slot - 100) * PER_BLOCK + index);

const meta = {
  err: null,
  status: { Ok: null },
  fee: 5_000,
  preBalances: [10, 1],
  postBalances: [5, 1],
  innerInstructions: [],
  logMessages: [],
  preTokenBalances: [],
  postTokenBalances: [],
  rewards: [],
  loadedAddresses: { writable: [], readonly: [] },
  computeUnitsConsumed: 150,
};

function blockAt(slot: number): unknown {
  const hash = '11111111111111111111111111111111';
  const transactions = Array.from({ length: PER_BLOCK }, (_, index) => {
    const bytes = Buffer.from(transactionAt(slot, index).wire);
    return { transaction: [bytes.toString('base64'), 'base64'], meta, version: 'legacy' };
  });
  const header = { blockHeight: slot, blockTime: 1_700_000_000, parentSlot: slot - 1 };
  return { ...header, blockhash: hash, previousBlockhash: hash, transactions, rewards: [] };
}

/** Node responses for a chain with a block in every slot. */
function answer(method: string, params: Buffer | null): string {
  const [first, second] = JSON.parse(params?.toString() ?? '[]') as number[];
  if (method === 'getBlock') return JSON.stringify(blockAt(first!));
  if (method !== 'getBlocks') return '90';
  const last = Math.min(second!, TIP);
  return JSON.stringify(Array.from({ length: Math.max(0, last - first! + 1) }, (_, at) => first! + at));
}

/** A feed with Geyser, and a PubSub node that is some slots ahead. */
async function start(pubsubSlot: number) {
  const server = await GeyserServer.start();
  const rig = new GeyserRig([server.url], { source: { downMaxMs: 200, stallMs: 1_000 } });
  const mock = await PubsubMock.start(healthy, pubsubSlot);
  const log: string[] = [];
  const methods: string[] = [];
  const feed = createFeed({
    network: 'devnet',
    pool: {
      ...dispatcherOf(async ({ method, params }) => {
        methods.push(`${method} ${params}`);
        return { body: Buffer.from(answer(method, params)), errorCode: 0 };
      }),
      status: () => [],
    },
    nodes: [{ name: 'node-1', url: 'http://127.0.0.1:1', ws: mock.url }],
    preferred: rig.feed,
    limits: testLimits,
    log: createLogger('debug', (line) => log.push(line)),
  });
  ends.push(
    () => feed.close(),
    () => rig.source.close(),
    () => server.stop(),
    () => mock.close(),
  );
  await rig.start(server);
  return { feed, server, mock, log, methods };
}

describe('a subscription fed by Geyser', () => {
  it('fails over to PubSub without loss, duplicates or reordering', async () => {
    const { feed, server, mock, log } = await start(105);
    const recorder = new Recorder();
    await feed.open({ kind: 'slot' }, recorder);
    expect(mock.peers.size).toBe(0);
    for (const slot of [100, 101]) server.slot(slot);
    await recorder.count(2);
    server.stop();
    await until(() => mock.peers.size > 0 && mock.count('slotSubscribe') > 0, 'PubSub is used');
    // The gap ends when the next slot arrives.
    const ticking = setInterval(() => mock.tick(), 50);
    await recorder.count(7).finally(() => clearInterval(ticking));
    const slots = recorder.results.map(({ slot }) => Number(slot));
    expect(slots).toEqual(slots.map((_, index) => 100 + index));
    expect(recorder.failure).toBeNull();
    expect(log.join()).toContain('Geyser subscription failed over to PubSub');
  });

  it('opens on PubSub at once during an outage', async () => {
    const { feed, server, mock } = await start(105);
    const first = new Recorder();
    await feed.open({ kind: 'slot' }, first);
    server.slot(100);
    await first.count(1);
    server.stop();
    await until(() => mock.count('slotSubscribe') > 0, 'PubSub is used');
    const streams = server.streams.length;
    const second = new Recorder();
    await feed.open({ kind: 'root' }, second);
    expect(mock.count('rootSubscribe')).toBe(1);
    expect(server.streams).toHaveLength(streams);
  });
});

const transactionsAt = (commitment: string) =>
  subscriptionOf('transaction', {}, { commitment, transactionDetails: 'signatures' });

/** Received transactions as `slot index`, marked if the signature is wrong. */
const positionsOf = (recorder: Recorder): string[] =>
  recorder.results.map(({ slot, transactionIndex, signature }) => {
    const isRight = signature === signatureOf(transactionAt(slot, transactionIndex));
    return `${slot} ${transactionIndex}${isRight ? '' : ' another'}`;
  });

const positions = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => [`${from + at} 0`, `${from + at} 1`]).flat();

function sendSlot(server: GeyserServer, slot: number): void {
  const content = Array.from({ length: PER_BLOCK }, (_, index) =>
    transactionIs(slot, transactionAt(slot, index), index),
  );
  server.slot(slot, ...content);
}

describe('a transaction subscription fed by Geyser', () => {
  it.each(['processed', 'confirmed', 'finalized'])(
    'fails over to blocks without loss or duplicates at %s',
    async (at) => {
      const { feed, server, mock, log } = await start(105);
      const recorder = new Recorder();
      await feed.open(transactionsAt(at), recorder);
      for (const slot of [100, 101, 102, 103]) sendSlot(server, slot);
      server.send(slotIs(102, 'confirmed'));
      server.send(slotIs(101, 'finalized'));
      // The server dies in the middle of a slot.
      server.send(slotIs(104, 'created'));
      server.send(transactionIs(104, transactionAt(104, 0), 0));
      const reached = { processed: 9, confirmed: 6, finalized: 4 }[at]!;
      await recorder.count(reached);
      server.stop();
      await until(() => mock.count('slotSubscribe') > 0, 'a node sends slots');
      for (const peer of mock.peers) await peer.read();
      mock.tick(TIP - 105);
      await recorder.count((TIP - 99) * PER_BLOCK);
      expect(positionsOf(recorder)).toEqual(positions(100, TIP));
      expect(recorder.failure).toBeNull();
      expect(log.join()).toContain('Geyser subscription failed over to PubSub');
    },
  );
});

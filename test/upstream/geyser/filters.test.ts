import { describe, expect, it } from 'vitest';
import type { SubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { slot } from '../../../src/solana/units.ts';
import type { GeyserServer } from '../feeds/geyser-server.ts';
import { endOf, slotIs, transactionIs, transfer, wholeSlot } from '../feeds/geyser-updates.ts';
import { sendOn, startSource } from './source-rig.ts';

const keyOf = (number: number) => Keypair.fromSeed(new Uint8Array(32).fill(number)).address;
const [first, second, third] = [keyOf(1), keyOf(2), keyOf(3)].sort() as [
  ReturnType<typeof keyOf>,
  ReturnType<typeof keyOf>,
  ReturnType<typeof keyOf>,
];
const INVALID_ARGUMENT = 3;
const all: SubscribeRequest = { transactions: new Map([['t', {}]]) };
const tx = (at: number, number: number) => transactionIs(at, transfer(number), number);

/** The filters of the newest request that differ between tests. */
function requestOf(server: GeyserServer) {
  const { accounts, transactions, entry } = server.requests.at(-1)!;
  return { accounts, transactions, entry };
}

describe('the merged request', () => {
  it('covers a kind without filters if one stream requests all of it, and the content of blocks', async () => {
    const { rig, server } = await startSource(1);
    const narrow = rig.source.subscribe(
      { transactions: new Map([['x', { accountInclude: [first] }]]) },
      null,
    );
    const blocks = rig.source.subscribe({ blocks: new Map([['b', { includeEntries: true }]]) }, null);
    await Promise.all([narrow.ready, blocks.ready]);
    expect(Object.values(server.requests.at(-1)!.transactions)).toMatchObject([
      { accountInclude: [], accountRequired: [] },
    ]);
    expect(requestOf(server)).toMatchObject({ accounts: {}, entry: { e: {} } });
    blocks.end();
    const some = { accountInclude: [second], includeAccounts: true, includeTransactions: false };
    await rig.source.subscribe({ blocks: new Map([['b', some]]) }, null).ready;
    expect(requestOf(server)).toMatchObject({
      accounts: { a0: { account: [second] } },
      transactions: { t0: { accountInclude: [first] } },
      entry: {},
    });
  });

  it('is broadened when it would exceed the filter and address limits', async () => {
    const { rig, server } = await startSource(1, { filtersMax: 3, addressesMax: 2 });
    const data = (size: bigint) => ({
      owner: [first],
      filters: [{ kind: 'dataSize' as const, bytes: size }],
    });
    const accounts = new Map([1n, 2n, 3n].map((size) => [`a${size}`, data(size)]));
    const transactions = new Map([['t', { accountInclude: [first, second, third] }]]);
    await rig.source.subscribe({ accounts, transactions }, null).ready;
    expect(requestOf(server)).toMatchObject({
      accounts: { a0: { owner: [first], filters: [] } },
      transactions: { t0: { accountInclude: [] } },
    });
  });
});

describe('a server that rejects the request', () => {
  it('receives it without block counts, then a broader one, and continues', async () => {
    const { rig, server } = await startSource(1);
    sendOn(server.stream, wholeSlot(100));
    await rig.untilEmitted('100 processed');
    server.onRequest = (request, stream) => {
      const isRefused =
        Object.keys(request.blocks).length > 0 ||
        Object.values(request.accounts).some(({ filters }) => filters.length > 0);
      if (isRefused) stream.emit('error', { code: INVALID_ARGUMENT, details: 'failed to create filter: …' });
      else if (request.fromSlot !== undefined) sendOn(stream, wholeSlot(100));
    };
    const filters = [{ kind: 'dataSize' as const, bytes: 165n }];
    await rig.source.subscribe({ accounts: new Map([['a', { owner: [first], filters }]]) }, null).ready;
    await server.until(() => requestOf(server).accounts.a0?.filters.length === 0);
    expect(requestOf(server).accounts).toMatchObject({ a0: { owner: [first], filters: [] } });
    sendOn(server.stream, wholeSlot(101));
    await rig.untilEmitted('101 processed');
    expect(rig.lost).toEqual([]);
  });
});

describe('a filter set with from_slot', () => {
  it('receives older slots exactly once before it is ready', async () => {
    const { rig, server } = await startSource(1);
    await rig.source.subscribe({ transactions: new Map([['x', { accountInclude: [first] }]]) }, null).ready;
    sendOn(server.stream, [...wholeSlot(100, tx(100, 1)), ...wholeSlot(101), slotIs(101, 'confirmed')]);
    sendOn(server.stream, [slotIs(102, 'created')]);
    await rig.untilEmitted('102 createdBank');
    server.onRequest = (request, stream) => {
      if (request.fromSlot !== '98') return;
      sendOn(stream, [...wholeSlot(98, tx(98, 8)), slotIs(98, 'finalized'), ...wholeSlot(99)]);
      sendOn(stream, [...wholeSlot(100, tx(100, 1), tx(100, 2)), ...wholeSlot(101, tx(101, 3))]);
      sendOn(stream, [slotIs(102, 'created'), tx(102, 4), ...endOf(102)]);
    };
    await rig.source.subscribe(all, slot(98)).ready;
    expect(rig.of(98)).toEqual(['createdBank', 'transfer 8', 'meta', 'processed', 'confirmed', 'finalized']);
    expect(rig.of(100)).toEqual([
      'createdBank',
      'transfer 1',
      'meta',
      'processed',
      'confirmed',
      'transfer 2',
    ]);
    expect(rig.of(101)).toEqual(['createdBank', 'meta', 'processed', 'confirmed', 'transfer 3']);
    expect(rig.of(102)).toEqual(['createdBank', 'transfer 4', 'meta', 'processed']);
    // The live stream was not affected by the replay.
    expect(server.streams).toHaveLength(2);
    sendOn(server.streams[0]!, [tx(102, 4), ...endOf(102), ...wholeSlot(103)]);
    await rig.untilEmitted('103 processed');
    expect(rig.of(102)).toHaveLength(4);
  });

  it('starts at the oldest slot that the server reports as available', async () => {
    const { rig, server } = await startSource(1);
    sendOn(server.stream, [...wholeSlot(100), ...wholeSlot(101)]);
    await rig.untilEmitted('101 processed');
    server.onRequest = (request, stream) => {
      if (request.fromSlot === '50') {
        const details = 'broadcast from 50 is not available, last available: 99';
        stream.emit('error', { code: 13, details });
      } else if (request.fromSlot === '99') {
        for (const slot of [99, 100, 101]) sendOn(stream, wholeSlot(slot, tx(slot, 1)));
      }
    };
    await rig.source.subscribe(all, slot(50)).ready;
    expect(rig.emitted.filter((line) => line.endsWith('transfer 1'))).toEqual([
      '99 transfer 1',
      '100 transfer 1',
      '101 transfer 1',
    ]);
  });
});

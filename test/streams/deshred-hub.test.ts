import { describe, expect, it } from 'vitest';
import type {
  SubscribeDeshredRequest,
  SubscribeRequest,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import { slot as slotOf } from '../../src/solana/units.ts';
import type { DeshredSlot } from '../../src/streams/deshred/deshred-event.ts';
import { DeshredHub } from '../../src/streams/deshred/deshred-hub.ts';
import type { LoadedAddresses } from '../../src/upstream/shreds/lookup-tables.ts';
import { BatchReader } from '../../src/upstream/shreds/shred-stage.ts';
import { oracleTransaction } from '../geyser/oracle.ts';
import {
  type GeneratedTransaction,
  generateBatch,
  generateWire,
  keyAt,
  keyBytes,
  MessageSink,
  signatureAt,
} from '../shreds/generated-transactions.ts';

const AT_MS = 1_790_000_000_123;

function scene(loaded: LoadedAddresses | null = null) {
  const hub = new DeshredHub({ version: '{"version":"x"}' });
  const reader = new BatchReader({
    tables: { resolve: () => loaded },
    listener: {
      onBatch: (batch) => hub.onBatch(batch),
      transactions: (transactions) => {
        for (const one of transactions) hub.onTransaction(one);
      },
    },
  });
  const emit = (slot: number, ...made: readonly GeneratedTransaction[]): void =>
    reader.read(generateBatch(slot, ...made.map(generateWire)));
  const open = async (
    rpc: 'Subscribe' | 'SubscribeDeshred',
    request: SubscribeRequest | SubscribeDeshredRequest,
  ) => {
    const sink = new MessageSink();
    const stream = hub.open(rpc, sink);
    await stream.request(request);
    return { sink, stream };
  };
  return { hub, reader, emit, open };
}

const named = <Filter>(filters: Readonly<Record<string, Filter>>) => new Map(Object.entries(filters));
const everything = { transactions: named({ all: {} }) };
const everythingDeshred = { deshredTransactions: named({ all: {} }) };

function expectedOf(made: GeneratedTransaction) {
  const decoded = decodeTransaction(generateWire(made));
  if ('fault' in decoded) throw new Error(decoded.fault);
  return oracleTransaction(decoded.transaction);
}

const status = (of: DeshredSlot['status'], slot = 9): DeshredSlot => ({
  ...{ slot: slotOf(slot), parent: slotOf(slot - 1), status: of, at: BigInt(AT_MS) },
});

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, one) => (one instanceof Uint8Array ? [...one] : one)));

describe('a Subscribe stream of the shred stage', () => {
  it('receives transactions without meta', async () => {
    const { open, emit } = scene();
    const { sink } = await open('Subscribe', everything);
    emit(9, { name: 1 }, { name: 2, lookups: [{ table: 50, writable: [1], readonly: [2] }] });
    const [first, second] = sink.updates;
    expect(first?.filters).toEqual(['all']);
    expect(first?.createdAt?.getTime()).toBe(AT_MS);
    expect(first?.transaction?.slot).toBe('9');
    const { meta, index, isVote, signature, transaction } = first!.transaction!.transaction!;
    expect([meta, index, isVote]).toEqual([undefined, '0', false]);
    expect(signature).toEqual(signatureAt(1));
    expect(plain(transaction)).toEqual(plain(expectedOf({ name: 1 })));
    const looking = expectedOf({ name: 2, lookups: [{ table: 50, writable: [1], readonly: [2] }] });
    expect(plain(second?.transaction?.transaction?.transaction)).toEqual(plain(looking));
  });

  it('matches addresses from lookup tables, if they are known', async () => {
    const { open, emit } = scene({ writable: [keyBytes(80)], readonly: [keyBytes(81), keyBytes(82)] });
    const { sink } = await open('Subscribe', {
      transactions: named({ loaded: { accountRequired: [keyAt(80), keyAt(82), keyAt(5)] } }),
    });
    const lookups = [{ table: 50, writable: [1], readonly: [2, 3] }];
    emit(9, { name: 1, keys: [5, 6], lookups }, { name: 2, keys: [6], lookups }, { name: 3, keys: [5] });
    expect(sink.updates.map(({ transaction }) => transaction?.transaction?.signature[0])).toEqual([1]);
  });

  it('receives slots, and every status with interslotUpdates', async () => {
    const { hub, open } = scene();
    const { sink } = await open('Subscribe', {
      slots: named({ plain: {}, all: { interslotUpdates: true }, one: { filterByCommitment: true } }),
    });
    for (const of of ['firstShredReceived', 'completed', 'processed'] as const) hub.onSlot(status(of));
    hub.onSlot({ ...status('dead'), deadError: 'why' });
    expect(sink.updates.map(({ filters, slot }) => [filters, slot?.status, slot?.deadError])).toEqual([
      [['all'], 3, undefined],
      [['all'], 4, undefined],
      [['plain', 'all', 'one'], 0, undefined],
      [['all'], 6, 'why'],
    ]);
    expect(sink.updates[0]?.slot).toMatchObject({ slot: '9', parent: '8' });
  });

  it('receives updates that match its latest request, and none if that is empty or the stream is closed', async () => {
    const { open, emit, hub } = scene();
    const { sink, stream } = await open('Subscribe', everything);
    await stream.request({ transactions: named({ seven: { accountInclude: [keyAt(7)] } }) });
    emit(9, { name: 1 }, { name: 7 });
    await stream.request({});
    emit(9, { name: 7 });
    await stream.request(everything);
    stream.close();
    emit(9, { name: 7 });
    expect(sink.updates.map(({ filters }) => filters)).toEqual([['seven']]);
    expect(hub.size).toBe(0);
  });
});

describe('a SubscribeDeshred stream', () => {
  it('receives transactions with their lookup tables and shreds', async () => {
    const { open, emit } = scene({ writable: [keyBytes(80)], readonly: [keyBytes(81), keyBytes(82)] });
    const { sink } = await open('SubscribeDeshred', everythingDeshred);
    const made = { name: 1, lookups: [{ table: 50, writable: [1], readonly: [2, 3] }] };
    emit(9, made);
    const [update] = sink.deshredUpdates;
    expect(update?.filters).toEqual(['all']);
    expect(update?.createdAt?.getTime()).toBe(AT_MS);
    expect(update?.deshredTransaction?.slot).toBe('9');
    const info = update!.deshredTransaction!.transaction!;
    expect(info.signature).toEqual(signatureAt(1));
    expect(plain(info.transaction)).toEqual(plain(expectedOf(made)));
    expect(info.loadedWritableAddresses).toEqual([keyBytes(80)]);
    expect(info.loadedReadonlyAddresses).toEqual([keyBytes(81), keyBytes(82)]);
    expect(info.completedDataSetStartingShredIndex).toBe(32);
    expect(info.completedDataSetEndingShredIndexExclusive).toBe(64);
  });

  it('receives slots, but not by commitment, which does not exist there', async () => {
    const { hub, open } = scene();
    const { sink } = await open('SubscribeDeshred', {
      slots: named({ all: { interslotUpdates: true }, none: { filterByCommitment: true } }),
    });
    hub.onSlot(status('firstShredReceived'));
    hub.onSlot(status('processed'));
    const updates = sink.deshredUpdates.map(({ filters, slot }) => [filters, slot?.slot, slot?.status]);
    expect(updates).toEqual([
      [['all'], '9', 3],
      [['all'], '9', 0],
    ]);
  });
});

it('a SubscribeEntries stream receives whole batches from the time it was opened', () => {
  const { hub, emit } = scene();
  emit(8, { name: 1 });
  const sink = new MessageSink();
  const stream = hub.open('SubscribeEntries', sink);
  emit(9, { name: 1 }, { name: 2 });
  stream.close();
  emit(10, { name: 1 });
  expect(sink.batches).toEqual([
    { slot: 9n, entries: generateBatch(9, generateWire({ name: 1 }), generateWire({ name: 2 })).entries },
  ]);
});

describe('the hub of the shred stage', () => {
  it('ends every stream when it is closed', async () => {
    const { hub, open } = scene();
    const { sink } = await open('Subscribe', everything);
    const entries = new MessageSink();
    hub.open('SubscribeEntries', entries);
    hub.close({ code: 'UNAVAILABLE', message: 'server is shutting down' });
    expect([sink.status?.code, entries.status?.code]).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
    expect(hub.size).toBe(0);
  });

  it('answers Ping, GetVersion and SubscribeReplayInfo, and rejects calls about the chain', () => {
    const { hub } = scene();
    expect([...hub.unary('Ping', Uint8Array.of(8, 5))]).toEqual([8, 5]);
    expect(Buffer.from(hub.unary('GetVersion', new Uint8Array())).toString()).toContain('{"version":"x"}');
    expect(hub.unary('SubscribeReplayInfo', new Uint8Array())).toHaveLength(0);
    expect(() => hub.unary('GetSlot', new Uint8Array())).toThrow('method disabled');
  });
});

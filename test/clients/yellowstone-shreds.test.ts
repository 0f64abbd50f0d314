import type { SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { GrpcServer } from '../../src/servers/grpc/server.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { DeshredHub } from '../../src/streams/deshred/deshred-hub.ts';
import { UnauthenticatedHandler } from '../../src/streams/geyser/geyser-handler.ts';
import { BatchReader } from '../../src/upstream/shreds/shred-stage.ts';
import {
  type GeneratedTransaction,
  generateBatch,
  generateLookup,
  generateWire,
  keyBytes,
} from '../shreds/generated-transactions.ts';
import { noShreds, scriptedReader, startStage, ticksUntil } from '../shreds/stage-rig.ts';
import { connected, listen, nothing, UpdateCollector } from './yellowstone-client.ts';

/** The published client and a chained Solway at the shred stage. */

const log = createLogger('silent', () => {});
const loaded = { writable: [keyBytes(80)], readonly: [keyBytes(81)] };
const everything = { all: { accountInclude: [], accountExclude: [], accountRequired: [] } };

async function stage(port = 0) {
  const hub = new DeshredHub();
  const reader = new BatchReader({
    tables: { resolve: () => loaded },
    listener: {
      onBatch: (batch) => hub.onBatch(batch),
      transactions: (transactions) => {
        for (const one of transactions) hub.onTransaction(one);
      },
    },
  });
  const server = new GrpcServer(
    { handler: new UnauthenticatedHandler(hub), health: () => true, log },
    { port },
  );
  const address = await server.listen();
  onTestFinished(() => server.close());
  const publish = (slot: number, ...made: readonly GeneratedTransaction[]): void =>
    reader.read(generateBatch(slot, ...made.map(generateWire)));
  return { hub, server, publish, port: address.port, url: `http://127.0.0.1:${address.port}` };
}

/** A request is in force when a later ping was answered. */
async function inForce(
  stream: UpdateCollector<{ pong?: { id: number } | undefined }>,
  request: object,
): Promise<void> {
  await stream.send({ ...request, ping: { id: 7 } });
  await stream.first(({ pong }) => pong?.id === 7);
}

describe('the published Yellowstone client at the shred stage', () => {
  it('receives transactions without meta on a standard stream', async () => {
    const { url, publish } = await stage();
    const client = await connected(url, undefined);
    const stream = await listen(client, { ...nothing(), transactions: everything });
    onTestFinished(() => stream.close());
    await inForce(stream, nothing());
    publish(9, { name: 1 }, { name: 2, vote: true });
    const { transaction } = await stream.first((update) => update.transaction?.transaction?.isVote === true);
    expect(transaction?.slot).toBe('9');
    expect(transaction?.transaction?.meta).toBeUndefined();
    expect(encodeBase58(transaction!.transaction!.signature)).toBe(encodeBase58(new Uint8Array(64).fill(2)));
  });

  it('receives transactions with lookup tables, and slots, on a deshred stream', async () => {
    const { url, publish, hub } = await stage();
    const client = await connected(url, undefined);
    const stream = new UpdateCollector<SubscribeUpdateDeshred>(await client.subscribeDeshred());
    await stream.send({
      deshredTransactions: everything,
      slots: { all: { interslotUpdates: true } },
    });
    onTestFinished(() => stream.close());
    await inForce(stream, { deshredTransactions: {}, slots: {} });
    hub.onSlot({ slot: generateBatch(9).slot, parent: null, status: 'firstShredReceived', at: 5n });
    publish(9, { name: 1, lookups: [generateLookup] });
    const { deshredTransaction } = await stream.first((update) => update.deshredTransaction !== undefined);
    expect(stream.updates.some(({ slot }) => slot?.status === 3)).toBe(true);
    const info = deshredTransaction!.transaction!;
    expect(
      [...info.loadedWritableAddresses, ...info.loadedReadonlyAddresses].map(([first]) => first),
    ).toEqual([80, 81]);
    expect(info.completedDataSetEndingShredIndexExclusive).toBe(64);
  });

  it('gets an error that names the unsupported filter and the remedy', async () => {
    const { url } = await stage();
    const client = await connected(url, undefined);
    const stream = await listen(client, {
      ...nothing(),
      accounts: { mine: { account: [], owner: [], filters: [] } },
    });
    onTestFinished(() => stream.close());
    const fault = await stream.failure();
    expect(`${fault.message} ${String(fault.cause)}`).toContain(
      'accounts: the shred stage sends transactions',
    );
  });
});

describe('a shred stage behind another shred stage', () => {
  it('delivers each transaction once, from entries and single transactions', async () => {
    const { url, publish, hub } = await stage();
    const server = { name: 'first', url, headers: {} };
    const config = { ...noShreds, entries: [server], deshred: [server] };
    const reader = scriptedReader({ leader: keyBytes(1), shredVersion: 1 });
    const second = await startStage({ config, reader });
    await ticksUntil(() => hub.size === 2);
    // Nothing shows when the request of the deshred stream is in force.
    const isReceived = (): boolean => second.stage.counts.duplicates > 0;
    let slot = 9;
    for (; !isReceived(); slot++) {
      publish(slot, { name: 1 }, { name: 2, lookups: [generateLookup] });
      await second.entries.received(slot - 8);
    }
    const [observed] = second.subscribe.updates;
    expect(observed?.transaction?.transaction?.signature[0]).toBe(1);
    const names = second.subscribe.updates.map(
      ({ transaction }) => `${transaction?.slot} ${transaction?.transaction?.signature[0]}`,
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

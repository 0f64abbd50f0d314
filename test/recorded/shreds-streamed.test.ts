import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { Client, type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import { SubscribeUpdate, SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  encodeSubscribeDeshredRequest,
  encodeSubscribeRequest,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { decodeEntryMessage, type EntryMessage } from '../../src/protocol/shredstream/entries.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { readEntries } from '../../src/solana/entries.ts';
import { makeShreds } from '../../src/solana/shred/make-shreds.ts';
import { slot } from '../../src/solana/units.ts';
import { UpdateCollector } from '../clients/yellowstone-client.ts';
import { createRandom } from '../fuzz/engine/mutate.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { testLeader } from '../shreds/deshred-rig.ts';
import { dropSome, shuffled } from '../shreds/disorder.ts';
import { generateEntries, generateWire, signatureAt } from '../shreds/generated-transactions.ts';
import {
  DEMO_VERSION,
  demoEntries,
  demoLeader,
  demoPackets,
  hasRecordedShreds,
} from '../shreds/recorded-shreds.ts';
import { type MockNode, send, startMock } from '../upstream/mock/server.ts';

/** Slot 0 is recorded; a later slot of our own marks the end. */
const MARK_SLOT = 60;
const MARK = 77;
/** Fits the smallest kernel socket buffer. */
const SENT_AT_ONCE = 64;

const network: Readonly<Record<string, unknown>> = {
  getSlot: 50,
  getHealth: 'ok',
  getGenesisHash: '11111111111111111111111111111111',
  getVersion: { 'solana-core': '3.0.0', 'feature-set': 1 },
  getEpochInfo: { absoluteSlot: 50, epoch: 0, slotIndex: 50, slotsInEpoch: 100, blockHeight: 50 },
  getLeaderSchedule: hasRecordedShreds && {
    [addressFromBytes(demoLeader)]: [0],
    [testLeader.address]: Array.from({ length: 99 }, (_, i) => i + 1),
  },
  getClusterNodes: [{ pubkey: testLeader.address, shredVersion: DEMO_VERSION }],
};

const mark = makeShreds({
  slot: slot(MARK_SLOT),
  parentOffset: 1,
  version: DEMO_VERSION,
  fecSetIndex: 0,
  chainedRoot: new Uint8Array(32),
  referenceTick: 0,
  entries: generateEntries(generateWire({ name: MARK })),
  isLastInSlot: true,
  sign: (root) => testLeader.sign(root),
}).packets;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const markSignature = hex(signatureAt(MARK));
const random = createRandom(20_261_122);
const orders: readonly (readonly [string, readonly Uint8Array[]])[] = [
  ['in order', demoPackets],
  ['shuffled', shuffled(demoPackets, random)],
  ['doubled and shuffled', shuffled([...demoPackets, ...demoPackets], random)],
  ['without any 32 of each 64, shuffled', shuffled(dropSome(demoPackets, 64, 32, random), random)],
];

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

type Stream = ClientDuplexStream<Buffer, unknown>;

/** Records the shred stage streams of a whole gateway on a scripted network. */
class StreamRecorder {
  readonly #service: RunningService;
  readonly #port: number;
  readonly #client: Client;
  readonly #streams: Stream[] = [];
  #pings = 10;
  readonly deshred: UpdateCollector<SubscribeUpdateDeshred>;
  readonly subscribe: UpdateCollector<SubscribeUpdate>;
  readonly entries: UpdateCollector<EntryMessage>;

  constructor(service: RunningService, port: number) {
    this.#service = service;
    this.#port = port;
    this.#client = new Client(new URL(service.ready.grpcUrl).host, credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1,
    });
    this.deshred = this.#open('geyser.Geyser/SubscribeDeshred', SubscribeUpdateDeshred.decode);
    this.subscribe = this.#open('geyser.Geyser/Subscribe', SubscribeUpdate.decode);
    this.entries = this.#open('shredstream.ShredstreamProxy/SubscribeEntries', decodeEntryMessage);
  }

  static async start(url: string): Promise<StreamRecorder> {
    const port = await freeUdpPort();
    const configuration = `[shreds]\nudp = true\nudp_host = "127.0.0.1"\nudp_port = ${port}\n`;
    const service = await startService({ configuration, arguments: ['--upstream', url, '--ws', 'off'] });
    const recorders = new StreamRecorder(service, port);
    await recorders.#subscribeAll();
    return recorders;
  }

  #open<Update>(path: string, read: (bytes: Buffer) => Update): UpdateCollector<Update> {
    const metadata = new Metadata();
    metadata.set('x-token', this.#service.ready.keys.find(({ product }) => product === 'fs')?.key ?? '');
    const asIs = (bytes: Buffer): Buffer => bytes;
    // The codec's `decode` has extra parameters.
    const decode = (bytes: Buffer): Update => read(bytes);
    const stream = this.#client.makeBidiStreamRequest(`/${path}`, asIs, decode, metadata);
    this.#streams.push(stream as unknown as Stream);
    return new UpdateCollector<Update>(stream as unknown as Duplex);
  }

  /** Subscribes to everything and waits until active. */
  async #subscribeAll(): Promise<void> {
    const [deshred, subscribe, entries] = this.#streams as [Stream, Stream, Stream];
    const transactions = new Map([['all', {}]]);
    deshred.write(Buffer.from(encodeSubscribeDeshredRequest({ deshredTransactions: transactions })));
    deshred.write(Buffer.from(encodeSubscribeDeshredRequest({ ping: 5 })));
    subscribe.write(Buffer.from(encodeSubscribeRequest({ transactions })));
    subscribe.write(Buffer.from(encodeSubscribeRequest({ ping: 5 })));
    const accepted = once(entries, 'metadata');
    entries.end(Buffer.alloc(0));
    await this.deshred.first(({ pong }) => pong?.id === 5);
    await this.subscribe.first(({ pong }) => pong?.id === 5);
    await accepted;
  }

  /** Received signatures and batches, without the mark. */
  get received() {
    const deshred = this.deshred.updates.flatMap(({ deshredTransaction: sent }) => sent?.transaction ?? []);
    const subscribe = this.subscribe.updates.flatMap(({ transaction: sent }) => sent?.transaction ?? []);
    return {
      deshred: deshred.map(({ signature }) => hex(signature)),
      subscribe: subscribe.map(({ signature }) => hex(signature)),
      batches: this.entries.updates.filter(({ slot: of }) => of !== BigInt(MARK_SLOT)),
    };
  }

  /**
   * Resends packets and mark until received: a busy kernel may drop datagrams, and duplicates must not
   * matter.
   */
  async send(packets: readonly Uint8Array[], wanted: number): Promise<void> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    try {
      while (this.received.deshred.length < wanted) await this.#round(socket, packets);
      while (!this.#isMarked()) await this.#round(socket, mark);
    } finally {
      socket.close();
    }
  }

  #isMarked(): boolean {
    const { deshred, subscribe } = this.received;
    const isInEntries = this.entries.updates.some(({ slot: of }) => of === BigInt(MARK_SLOT));
    return isInEntries && deshred.includes(markSignature) && subscribe.includes(markSignature);
  }

  async #round(socket: ReturnType<typeof createSocket>, packets: readonly Uint8Array[]): Promise<void> {
    for (const [at, packet] of packets.entries()) {
      await new Promise<void>((resolve) => socket.send(packet, this.#port, '127.0.0.1', () => resolve()));
      if ((at + 1) % SENT_AT_ONCE === 0 || at + 1 === packets.length) await this.#ping();
    }
  }

  /** A response shows that the gateway also read its socket. */
  async #ping(): Promise<void> {
    const id = this.#pings++;
    this.#streams[0]!.write(Buffer.from(encodeSubscribeDeshredRequest({ ping: id })));
    await this.deshred.first(({ pong }) => pong?.id === id);
  }
  async stop(): Promise<void> {
    for (const stream of this.#streams) stream.on('error', () => {}).cancel();
    this.#client.close();
    await this.#service.stop();
  }
}

describe.skipIf(!hasRecordedShreds)('recorded shreds (../shared/data, shreds), sent to a gateway', () => {
  let node: MockNode;
  const recorders: StreamRecorder[] = [];
  const signatures = (hasRecordedShreds ? readEntries(demoEntries)! : []).flatMap(({ transactions }) =>
    transactions.map(({ signature }) => hex(signature)),
  );

  beforeAll(async () => {
    node = await startMock(({ id, method }, reply) =>
      send(reply, JSON.stringify({ jsonrpc: '2.0', result: network[method] ?? null, id })),
    );
    recorders.push(...(await Promise.all(orders.map(() => StreamRecorder.start(node.url)))));
  }, 60_000);
  afterAll(async () => {
    await Promise.all(recorders.map((each) => each.stop()));
    await node?.close();
  });

  it.each(orders)('%s yield exactly their 1,280 transactions and entries', async (name, packets) => {
    const at = orders.findIndex(([other]) => other === name);
    await recorders[at]!.send(packets, signatures.length);
    const { deshred, subscribe, batches } = recorders[at]!.received;
    expect(signatures).toHaveLength(1_280);
    expect(deshred.filter((one) => one !== markSignature)).toEqual(signatures);
    expect(subscribe.filter((one) => one !== markSignature)).toEqual(signatures);
    expect(batches.map(({ slot: of }) => of)).toEqual([0n]);
    expect(hex(batches[0]!.entries) === hex(demoEntries)).toBe(true);
  });
});

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { Client, type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import {
  loadFileDescriptorSetFromBuffer,
  loadSync,
  type MethodDefinition,
  type PackageDefinition,
} from '@grpc/proto-loader';
import {
  createAssociatedTokenAccountIdempotent,
  createMint,
  mintTo,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { Keypair, LAMPORTS_PER_SOL, SystemProgram } from '@solana/web3.js';
import { CommitmentLevel, SubscribeUpdate, SubscribeUpdateDeshred } from '@triton-one/yellowstone-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import { FundedService } from './funded-service.ts';
import { connected, nothing, UpdateCollector, type YellowstoneClient } from './yellowstone-client.ts';

/**
 * Compares a @grpc/grpc-js client with code generated from proto/ with the published client: same requests,
 * same bytes.
 */
const folder = join(import.meta.dirname, '../../proto');
const options = { longs: String, includeDirs: [folder] };
const written = { ...loadSync('geyser.proto', options), ...loadSync('shredstream.proto', options) };
const asIs = (bytes: Buffer): Buffer => bytes;

type Generated = MethodDefinition<object, object>;
const methodOf = (code: PackageDefinition, service: string, name: string): Generated =>
  (code[service] as unknown as Record<string, Generated>)[name]!;
const geyser = (name: string): Generated => methodOf(written, 'geyser.Geyser', name);

/** Decodes and re-encodes a message with generated code. */
const again = (method: Generated, message: Buffer): Buffer =>
  method.responseSerialize(method.responseDeserialize(message));

const require = createRequire(import.meta.url);
const published = require(
  join(dirname(require.resolve('@triton-one/yellowstone-grpc')), 'grpc/geyser.js'),
) as Record<string, { decode(bytes: Uint8Array): unknown }>;

let chain: FundedService;
let raw: Client;
const other = Keypair.generate();

function withKey(key: string): Metadata {
  const metadata = new Metadata();
  metadata.set('x-token', key);
  return metadata;
}

beforeAll(async () => {
  chain = await FundedService.start();
  raw = new Client(new URL(chain.service.ready.grpcUrl).host, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
  });
}, 60_000);
afterAll(async () => {
  raw?.close();
  await chain?.stop();
});

async function makeTraffic(): Promise<void> {
  for (const lamports of [LAMPORTS_PER_SOL, 100_000 * LAMPORTS_PER_SOL]) {
    await chain.send(await chain.transfer(other.publicKey, lamports));
  }
  const { connection, payer } = chain;
  const { publicKey } = payer;
  const confirm = { commitment: 'confirmed' } as const;
  const mint = await createMint(connection, payer, publicKey, null, 6, undefined, confirm);
  const account = await createAssociatedTokenAccountIdempotent(connection, payer, mint, publicKey, confirm);
  await mintTo(connection, payer, mint, account, payer, 5_000_000, [], confirm);
}

type Read = Readonly<Record<string, unknown>> & { slot?: { slot: string; status: number } | undefined };

const slotIn = (update: Read): number => {
  const observed = Object.values(update).find(
    (part) => typeof (part as { slot?: string })?.slot === 'string',
  );
  return observed === undefined ? -1 : Number((observed as { slot: string }).slot);
};

type Message = Readonly<{ bytes: Buffer; read: Read }>;

/** The same stream as bytes and through the published client. */
class Pair {
  readonly bytes: UpdateCollector<Buffer>;
  readonly theirs: UpdateCollector<Read>;
  readonly #read: (bytes: Uint8Array) => Read;
  readonly #cancel: () => void;
  readonly #known = new Map<Buffer, Message>();

  constructor(
    stream: ClientDuplexStream<object, Buffer>,
    theirs: UpdateCollector<Read>,
    read: (bytes: Uint8Array) => Read,
  ) {
    this.bytes = new UpdateCollector<Buffer>(stream as unknown as Duplex);
    this.theirs = theirs;
    this.#read = read;
    this.#cancel = () => stream.cancel();
  }

  messageOf(bytes: Buffer): Message {
    const known = this.#known.get(bytes) ?? { bytes, read: this.#read(bytes) };
    this.#known.set(bytes, known);
    return known;
  }

  async both(test: (update: Read) => boolean): Promise<void> {
    await this.bytes.first((bytes) => test(this.messageOf(bytes).read));
    await this.theirs.first(test);
  }

  get newest(): number {
    const receivedUpdates = [
      ...this.bytes.updates.map((bytes) => this.messageOf(bytes).read),
      ...this.theirs.updates,
    ];
    return Math.max(...receivedUpdates.map(slotIn));
  }

  between(first: number, last: number): { bytes: Message[]; theirs: Read[] } {
    const inside = (update: Read): boolean => slotIn(update) >= first && slotIn(update) <= last;
    return {
      bytes: this.bytes.updates.map((bytes) => this.messageOf(bytes)).filter(({ read }) => inside(read)),
      theirs: this.theirs.updates.filter(inside),
    };
  }

  close(): void {
    this.#cancel();
    this.bytes.close();
    this.theirs.close();
  }
}

async function open(
  name: 'Subscribe' | 'SubscribeDeshred',
  client: YellowstoneClient,
  key: string,
  request: object,
): Promise<Pair> {
  const { path, requestSerialize } = geyser(name);
  const stream = raw.makeBidiStreamRequest(path, requestSerialize, asIs, withKey(key));
  stream.write(request);
  const theirs = new UpdateCollector<Read>(
    name === 'Subscribe' ? await client.subscribe(nothing()) : await client.subscribeDeshred(),
  );
  await theirs.send(request);
  const codec = name === 'Subscribe' ? SubscribeUpdate : SubscribeUpdateDeshred;
  return new Pair(stream, theirs, (message) => codec.decode(message) as unknown as Read);
}

const anyTransaction = { accountInclude: [], accountExclude: [], accountRequired: [] };
const ofTokens = { account: [], owner: [TOKEN_PROGRAM_ID.toBase58()] };
const everything = {
  ...nothing(),
  accounts: {
    tokens: { ...ofTokens, filters: [{ datasize: '165' }] },
    system: { account: [], owner: [SystemProgram.programId.toBase58()], filters: [] },
  },
  slots: { slots: { interslotUpdates: true } },
  transactions: { every: anyTransaction, failed: { ...anyTransaction, failed: true } },
  transactionsStatus: { status: anyTransaction },
  blocks: {
    whole: { accountInclude: [], includeTransactions: true, includeAccounts: true, includeEntries: true },
  },
  blocksMeta: { meta: {} },
  entry: { entries: {} },
};
const slices = [
  { offset: '0', length: '32' },
  { offset: '64', length: '8' },
];
const deshred = { deshredTransactions: { every: anyTransaction }, slots: { slots: {} } };

const finalized = (slot: number) => (update: Read) =>
  Number(update.slot?.slot) === slot && update.slot?.status === CommitmentLevel.FINALIZED;

/** Filter names come in the order of the request; the published client sends filters in any order. */
const inOrder = (update: Read): Read => ({ ...update, filters: (update.filters as string[]).toSorted() });

describe('two clients with the same request', () => {
  const pairs = new Map<string, Pair>();
  let [first, last] = [0, 0];

  beforeAll(async () => {
    const standard = await connected(chain.service.ready.grpcUrl, chain.keyOf('grpc'));
    const shreds = await connected(chain.service.ready.grpcUrl, chain.keyOf('fs'));
    const processed = { ...everything, commitment: CommitmentLevel.PROCESSED };
    const confirmed = {
      ...everything,
      commitment: CommitmentLevel.CONFIRMED,
      accountsDataSlice: slices,
      slots: { slots: {} },
    };
    pairs.set('processed', await open('Subscribe', standard, chain.keyOf('grpc'), processed));
    pairs.set(
      'confirmed, with parts of data',
      await open('Subscribe', standard, chain.keyOf('grpc'), confirmed),
    );
    pairs.set('before they are run', await open('SubscribeDeshred', shreds, chain.keyOf('fs'), deshred));
    for (const pair of pairs.values()) await pair.both(({ slot }) => slot !== undefined);
    first = Math.max(...[...pairs.values()].map((pair) => pair.newest)) + 2;
    await makeTraffic();
    last = Math.max(...[...pairs.values()].map((pair) => pair.newest)) + 1;
    for (const pair of [...pairs.values()].slice(0, 2)) await pair.both(finalized(last));
  }, 30_000);
  afterAll(() => {
    for (const pair of pairs.values()) pair.close();
  });

  const kinds = ['account', 'slot', 'transaction', 'transactionStatus', 'block', 'blockMeta', 'entry'];
  it.each([
    ['processed', 'Subscribe', kinds],
    ['confirmed, with parts of data', 'Subscribe', kinds],
    ['before they are run', 'SubscribeDeshred', ['deshredTransaction', 'slot']],
  ])('receive the same bytes: %s', (name, call, observed) => {
    const { bytes, theirs } = pairs.get(name)!.between(first, last);
    expect(theirs.length).toBeGreaterThan(20);
    expect(theirs.map(inOrder)).toEqual(bytes.map(({ read }) => inOrder(read)));
    for (const kind of observed) {
      expect([kind, bytes.some(({ read }) => read[kind] !== undefined)]).toEqual([kind, true]);
    }
    for (const { bytes: message } of bytes) {
      expect(again(geyser(call), message).toString('hex')).toBe(message.toString('hex'));
    }
  });
});

const unary = (name: string, request: object): Promise<Buffer> => {
  const { path, requestSerialize } = geyser(name);
  return new Promise((resolve, reject) => {
    const metadata = withKey(chain.keyOf('grpc'));
    raw.makeUnaryRequest(path, requestSerialize, asIs, request, metadata, (error, answer) => {
      if (error === null && answer !== undefined) resolve(answer);
      else reject(error);
    });
  });
};

describe('a unary call', () => {
  const commitment = CommitmentLevel.CONFIRMED;
  let blockhash = '';

  beforeAll(async () => {
    ({ blockhash } = await chain.connection.getLatestBlockhash());
  });

  it.each<[string, () => object, (client: YellowstoneClient) => Promise<unknown>]>([
    ['Ping', () => ({ count: -7 }), (client) => client.ping(-7)],
    ['GetVersion', () => ({}), (client) => client.getVersion()],
    ['GetSlot', () => ({ commitment }), (client) => client.getSlot(commitment)],
    ['GetBlockHeight', () => ({ commitment }), (client) => client.getBlockHeight(commitment)],
    ['GetLatestBlockhash', () => ({ commitment }), (client) => client.getLatestBlockhash(commitment)],
    [
      'IsBlockhashValid',
      () => ({ blockhash, commitment }),
      (client) => client.isBlockhashValid(blockhash, commitment),
    ],
    ['SubscribeReplayInfo', () => ({}), (client) => client.subscribeReplayInfo()],
  ])('returns the same bytes to both: %s', async (name, request, sendRequest) => {
    const client = await connected(chain.service.ready.grpcUrl, chain.keyOf('grpc'));
    const { [name === 'Ping' ? 'PongResponse' : `${name}Response`]: codec } = published;
    let observed: [before: unknown, bytes: Buffer, after: unknown];
    // If two responses are equal, so is every one between them; slots advance all the time.
    do observed = [await sendRequest(client), await unary(name, request()), await sendRequest(client)];
    while (JSON.stringify(observed[0]) !== JSON.stringify(observed[2]));
    const [theirs, bytes] = observed;
    expect(codec!.decode(bytes)).toEqual(theirs);
    expect(again(geyser(name), bytes).toString('hex')).toBe(bytes.toString('hex'));
  });
});

const REFLECTION = 'grpc.reflection.v1.ServerReflection';

async function reflect<Answer>(
  question: object,
  write: (question: object) => Buffer,
  read: (bytes: Buffer) => Answer,
): Promise<Answer> {
  const stream = raw.makeBidiStreamRequest(
    `/${REFLECTION}/ServerReflectionInfo`,
    write,
    asIs,
    new Metadata(),
  );
  stream.write(question);
  stream.end();
  const answers: Buffer[] = [];
  for await (const answer of stream as AsyncIterable<Buffer>) answers.push(answer);
  expect(answers).toHaveLength(1);
  return read(answers[0]!);
}

/** Generates code from reflected files. */
function generate(files: readonly Uint8Array[]): PackageDefinition {
  const set = new ProtobufWriter();
  for (const file of files) set.bytes(1, file);
  return loadFileDescriptorSetFromBuffer(Buffer.from(set.finish()), options);
}

/** Generates the code of the reflection messages from their own reflection. */
async function reflectionCode(): Promise<Generated> {
  const own = (): Buffer => Buffer.from(new ProtobufWriter().string(4, REFLECTION).finish());
  const files = await reflect({}, own, (bytes) => {
    const found: Uint8Array[] = [];
    const answer = new ProtobufReader(bytes);
    while (answer.next()) {
      if (answer.field !== 4) {
        answer.skipField();
        continue;
      }
      const response = answer.message();
      while (response.next()) found.push(response.bytes());
    }
    return found;
  });
  return methodOf(generate(files), REFLECTION, 'ServerReflectionInfo');
}

describe('reflection', () => {
  /** Code from descriptors keeps the field names of the file. */
  type Answer = {
    list_services_response?: { service: { name: string }[] };
    file_descriptor_response?: { file_descriptor_proto: Buffer[] };
  };

  it('describes its services completely through reflection', async () => {
    const { requestSerialize, responseDeserialize } = await reflectionCode();
    const sendRequest = (question: object) =>
      reflect(question, requestSerialize, (bytes) => responseDeserialize(bytes) as Answer);
    const { list_services_response: list } = await sendRequest({ list_services: '' });
    const services = list!.service.map(({ name }) => name);
    expect(services).toEqual(expect.arrayContaining(['geyser.Geyser', 'shredstream.ShredstreamProxy']));
    for (const name of services) {
      const { file_descriptor_response: found } = await sendRequest({ file_containing_symbol: name });
      const calls = generate(found!.file_descriptor_proto)[name] as object;
      expect(Object.keys(calls).length).toBeGreaterThan(0);
      if (name in written) expect(Object.keys(calls)).toEqual(Object.keys(written[name] as object));
    }
    const { file_descriptor_response: found } = await sendRequest({ file_by_filename: 'geyser.proto' });
    const reflected = methodOf(generate(found!.file_descriptor_proto), 'geyser.Geyser', 'Ping');
    expect(reflected.responseDeserialize(await unary('Ping', { count: 12 }))).toEqual({ count: 12 });
  });
});

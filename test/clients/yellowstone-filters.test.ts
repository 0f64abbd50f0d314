import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { loadSync, type MethodDefinition } from '@grpc/proto-loader';
import {
  createAssociatedTokenAccountIdempotent,
  createMint,
  mintTo,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { CommitmentLevel, CompressedAccountFilterSet, SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeBase58, encodeBase58 } from '../../src/solana/base58.ts';
import { FundedService } from './funded-service.ts';
import { connected, listen, nothing, UpdateCollector } from './yellowstone-client.ts';

/** Less common filters against the whole service: key, gateway, hub, Geyser of the embedded ledger. */
let chain: FundedService;
let rich: UpdateCollector<SubscribeUpdate>;
let sliced: UpdateCollector<SubscribeUpdate>;
let raw: UpdateCollector<Buffer>;
let readRaw: readonly SubscribeUpdate[];
let client: Client;
const ends: (() => void)[] = [];

const [some, other, owner] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
const SOL = LAMPORTS_PER_SOL;
const any = { accountInclude: [], accountExclude: [], accountRequired: [] };
const sent: Record<string, Buffer> = {};

const cuckooOf = (...keys: readonly Keypair[]) => {
  const set = new CompressedAccountFilterSet(100);
  for (const { publicKey } of keys) set.insert(publicKey.toBase58());
  return set.toProto();
};

/** Raw bytes, decoded by code generated from proto/: the published client lacks these fields. */
function listenRaw(request: object): UpdateCollector<Buffer> {
  const folder = join(import.meta.dirname, '../../proto');
  const code = loadSync('geyser.proto', { longs: String, includeDirs: [folder] });
  const methods = code['geyser.Geyser'] as unknown as Record<string, MethodDefinition<object, object>>;
  const { path, requestSerialize } = methods.Subscribe!;
  const metadata = new Metadata();
  metadata.set('x-token', chain.keyOf('grpc'));
  const stream = client.makeBidiStreamRequest(path, requestSerialize, (bytes: Buffer) => bytes, metadata);
  stream.write(request);
  ends.push(() => stream.cancel());
  return new UpdateCollector<Buffer>(stream as unknown as Duplex);
}

/** A slot update shows that the request is in force. */
const isObserved = ({ slot }: SubscribeUpdate): boolean => slot !== undefined;
/** A mint and a token account whose owner signs nothing: matched only through balances. */
async function mint(): Promise<void> {
  const { connection, payer } = chain;
  const confirm = { commitment: 'confirmed' } as const;
  const token = await createMint(connection, payer, payer.publicKey, null, 6, undefined, confirm);
  const to = await createAssociatedTokenAccountIdempotent(connection, payer, token, owner.publicKey, confirm);
  for (const [name, amount] of Object.entries({ much: 5_000, nothing: 0 })) {
    const signature = await mintTo(connection, payer, token, to, payer, amount, [], confirm);
    sent[name] = Buffer.from(decodeBase58(signature)!);
  }
}

const isOf = (update: SubscribeUpdate, signature: Buffer | undefined): boolean =>
  signature?.equals(update.transaction?.transaction?.signature ?? Buffer.alloc(0)) ?? false;

/** Waits until each stream has passed the slot of the last transaction. */
async function hasReceivedAll(): Promise<void> {
  const { transaction } = await rich.first((update) => isOf(update, sent.nothing));
  const isBehind = ({ slot }: SubscribeUpdate): boolean => Number(slot?.slot) > Number(transaction!.slot);
  await Promise.all([rich.first(isBehind), sliced.first(isBehind)]);
  await raw.first((bytes) => isBehind(SubscribeUpdate.decode(bytes)));
  readRaw = raw.updates.map((bytes) => SubscribeUpdate.decode(bytes));
}

beforeAll(async () => {
  chain = await FundedService.start();
  client = new Client(new URL(chain.service.ready.grpcUrl).host, credentials.createInsecure());
  const yellowstone = await connected(chain.service.ready.grpcUrl, chain.keyOf('grpc'));
  const wanted = await chain.transfer(some.publicKey, 1 * SOL);
  const unwanted = await chain.transfer(other.publicKey, 2 * SOL);
  const ofSome = { account: [some, other].map(({ publicKey }) => publicKey.toBase58()), owner: [] };
  const balance = (cmp: object) => ({ ...ofSome, filters: [{ lamports: cmp }] });
  const whole = { includeTransactions: true, includeAccounts: true, includeEntries: false };
  const tokens = { account: [], owner: [TOKEN_PROGRAM_ID.toBase58()], filters: [{ datasize: '165' }] };
  const processed = { ...nothing(), commitment: CommitmentLevel.PROCESSED, slots: { s: {} } };
  rich = await listen(yellowstone, {
    ...processed,
    transactions: {
      bySignature: { ...any, signature: encodeBase58(wanted.signature!) },
      votes: { ...any, vote: true },
      noVotes: { ...any, vote: false },
    },
    accounts: { tokens, eq: balance({ eq: String(SOL) }), ne: balance({ ne: String(SOL) }) },
    blocks: {
      included: { ...whole, accountInclude: [some.publicKey.toBase58()] },
      cuckoo: { ...whole, accountInclude: [], cuckooAccountInclude: cuckooOf(other) },
      none: { ...whole, accountInclude: [Keypair.generate().publicKey.toBase58()] },
    },
  });
  sliced = await listen(yellowstone, {
    ...processed,
    accounts: { tokens },
    accountsDataSlice: [
      { offset: '0', length: '32' },
      { offset: '64', length: '8' },
      { offset: '160', length: '6' },
    ],
  });
  const accountInclude = [owner.publicKey.toBase58()];
  raw = listenRaw({
    commitment: 'PROCESSED',
    slots: { s: {} },
    transactions: {
      keys: { accountInclude },
      all: { accountInclude, tokenAccounts: 'ALL' },
      changed: { accountInclude, tokenAccounts: 'BALANCE_CHANGED' },
      cuckoo: { cuckooAccountInclude: cuckooOf(some) },
      cuckooOwner: { cuckooAccountInclude: cuckooOf(owner), tokenAccounts: 'ALL' },
      both: { cuckooAccountInclude: cuckooOf(some), accountInclude: [other.publicKey.toBase58()] },
    },
  });
  ends.push(
    () => rich.close(),
    () => sliced.close(),
  );
  await Promise.all([rich.first(isObserved), sliced.first(isObserved)]);
  await raw.first((bytes) => isObserved(SubscribeUpdate.decode(bytes)));
  sent.some = await chain.send(wanted);
  sent.other = await chain.send(unwanted);
  await mint();
  await hasReceivedAll();
}, 60_000);
afterAll(async () => {
  for (const end of ends) end();
  client?.close();
  await chain?.stop();
});

/** Names of the filters that matched a transaction. */
const namesOf = (receivedUpdates: readonly SubscribeUpdate[], signature: Buffer | undefined): string[] =>
  receivedUpdates.filter((update) => isOf(update, signature)).flatMap(({ filters }) => filters.toSorted());
const by = (stream: UpdateCollector<SubscribeUpdate>, name: string): SubscribeUpdate[] =>
  stream.updates.filter(({ filters }) => filters.includes(name));

describe('transactions', () => {
  it('match by signature only', () => {
    const receivedUpdates = by(rich, 'bySignature');
    expect(receivedUpdates.map((update) => isOf(update, sent.some))).toEqual([true]);
  });

  it('are never votes: the embedded ledger has none', () => {
    expect(by(rich, 'votes')).toEqual([]);
    expect(namesOf(rich.updates, sent.some)).toEqual(['bySignature', 'noVotes']);
    expect(namesOf(rich.updates, sent.much)).toEqual(['noVotes']);
  });

  it('match a cuckoo filter in addition to the account list', () => {
    expect(namesOf(readRaw, sent.some)).toEqual(['both', 'cuckoo']);
    expect(namesOf(readRaw, sent.other)).toEqual(['both']);
  });

  it('match the owners of token accounts: all, or those whose balance changed', () => {
    expect(namesOf(readRaw, sent.much)).toEqual(['all', 'changed', 'cuckooOwner']);
    expect(namesOf(readRaw, sent.nothing)).toEqual(['all', 'cuckooOwner']);
    const tokens = readRaw.find((update) => isOf(update, sent.much))!.transaction!.transaction!;
    const keys = tokens.transaction!.message!.accountKeys.map((key) => encodeBase58(key));
    expect(keys).not.toContain(owner.publicKey.toBase58());
  });
});

describe('accounts', () => {
  it('match by lamports, equal and not equal', () => {
    const balances = (name: string): string[][] =>
      by(rich, name).map(({ account }) => [
        encodeBase58(account!.account!.pubkey),
        account!.account!.lamports,
      ]);
    expect(balances('eq')).toEqual([[some.publicKey.toBase58(), String(SOL)]]);
    expect(balances('ne')).toEqual([[other.publicKey.toBase58(), String(2 * SOL)]]);
  });

  it('carry the requested data slices, except slices beyond the data', () => {
    const parts = by(sliced, 'tokens').map(({ account }) => account!.account!);
    const whole = by(rich, 'tokens').map(({ account }) => account!.account!);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts).toEqual(
      whole.map((account) => {
        const data = Buffer.from(account.data);
        expect(data).toHaveLength(165);
        return { ...account, data: Buffer.concat([data.subarray(0, 32), data.subarray(64, 72)]) };
      }),
    );
    expect(whole.map(({ data }) => Buffer.from(data).readBigUInt64LE(64))).toContain(5_000n);
  });
});

describe('blocks', () => {
  const signaturesIn = ({ block }: SubscribeUpdate): string[] =>
    block!.transactions.map(({ signature }) => Buffer.from(signature).toString('hex'));
  const keysIn = ({ block }: SubscribeUpdate): string[] =>
    block!.accounts.map(({ pubkey }) => encodeBase58(pubkey));

  it.each([
    ['a list', 'included', some, 'some'],
    ['a cuckoo filter', 'cuckoo', other, 'other'],
  ] as const)('are all delivered, at the rate %s', (_what, name, who, what) => {
    const blocks = by(rich, name);
    expect(blocks.flatMap(signaturesIn)).toEqual([sent[what]!.toString('hex')]);
    expect(blocks.flatMap(keysIn)).toEqual([who.publicKey.toBase58()]);
    expect(blocks.length).toBe(by(rich, 'none').length);
    const holding = blocks.find(({ block }) => block!.transactions.length > 0)!.block!;
    expect(Number(holding.executedTransactionCount)).toBeGreaterThan(0);
    expect(Number(holding.updatedAccountCount)).toBeGreaterThan(1);
  });

  it('have no content when the list names none of their accounts', () => {
    const blocks = by(rich, 'none');
    expect(blocks.length).toBeGreaterThan(5);
    expect(blocks.flatMap((block) => [...signaturesIn(block), ...keysIn(block)])).toEqual([]);
  });
});

import { Client, credentials } from '@grpc/grpc-js';
import {
  createAssociatedTokenAccountInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  type PublicKey,
  SystemProgram,
} from '@solana/web3.js';
import { CommitmentLevel, type SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalnetGeyser, openLocalnetGeyser } from '../../../src/app/localnet/localnet-geyser.ts';
import { encodeSubscribeRequest } from '../../../src/protocol/geyser/subscribe-request.ts';
import { decodeSubscribeUpdate, type Update } from '../../../src/protocol/geyser/subscribe-update.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import type { Transaction } from '../../../src/solana/transaction/transaction.ts';
import type { Slot } from '../../../src/solana/units.ts';
import {
  connected,
  listen,
  nothing,
  type UpdateCollector,
} from '../../../test/clients/yellowstone-client.ts';
import { Lab, SOL } from './ledger/lab.ts';

/** Geyser stream of an embedded ledger with manual slots. */
let lab: Lab;
let geyser: LocalnetGeyser;
const open = async (): Promise<void> => {
  geyser = await openLocalnetGeyser(lab.node, {
    host: '127.0.0.1',
    ports: [0],
    drainGraceMs: 0,
    log: pino({ level: 'silent' }),
  });
};
beforeEach(async () => {
  lab = await Lab.open({ ticksPerSlot: 2 });
  await open();
});
afterEach(async () => {
  await geyser.close();
  await lab.close();
});

const client = () => connected(`http://127.0.0.1:${geyser.port}`, undefined);
const text = (bytes: Uint8Array | undefined): string => encodeBase58(bytes ?? new Uint8Array());
const signatureOf = ({ signatures }: Transaction): string => signatures[0] ?? '';
const anyTransaction = { accountInclude: [], accountExclude: [], accountRequired: [] };
/** Source: geyser.proto, `SlotStatus`, which the package does not export. */
const [PROCESSED, COMPLETED] = [0, 4];
const all = { account: [], owner: [], filters: [] };

/** Open stream, after its first message. */
async function stream(request: Parameters<typeof listen>[1]): Promise<UpdateCollector<SubscribeUpdate>> {
  const listening = await listen(await client(), request);
  await listening.first(({ ping }) => ping !== undefined);
  await listening.send({ ...request, ping: { id: 7 } });
  await listening.first(({ pong }) => pong?.id === 7);
  return listening;
}

const slotReached = (listening: UpdateCollector<SubscribeUpdate>, slot: Slot, status: number) =>
  listening.first((update) => update.slot?.slot === String(slot) && update.slot.status === status);

/** Token account with 700 units. */
function tokenAccount(payer: Keypair, owner: PublicKey): PublicKey {
  const mint = Keypair.generate();
  const account = getAssociatedTokenAddressSync(mint.publicKey, owner, true);
  const create = SystemProgram.createAccount({
    fromPubkey: payer.publicKey,
    newAccountPubkey: mint.publicKey,
    lamports: 1_461_600,
    space: MINT_SIZE,
    programId: TOKEN_PROGRAM_ID,
  });
  const made = lab.node.submit(
    lab.legacy(
      [payer, mint],
      [
        create,
        createInitializeMint2Instruction(mint.publicKey, 6, payer.publicKey, null),
        createAssociatedTokenAccountInstruction(payer.publicKey, account, owner, mint.publicKey),
        createMintToInstruction(mint.publicKey, account, payer.publicKey, 700n),
      ],
    ),
  );
  expect(made).toBeNull();
  return account;
}

/** Lookup table usable from the next slot. */
function lookupTable(payer: Keypair, addresses: PublicKey[]): AddressLookupTableAccount {
  const own = { authority: payer.publicKey, payer: payer.publicKey };
  const [create, key] = AddressLookupTableProgram.createLookupTable({ ...own, recentSlot: 1 });
  const extend = AddressLookupTableProgram.extendLookupTable({ ...own, lookupTable: key, addresses });
  expect(lab.run([payer], [create, extend])).toBeNull();
  const account = lab.node.bank('processed').account(key.toBase58() as never);
  const state = AddressLookupTableAccount.deserialize(account?.data ?? new Uint8Array());
  return new AddressLookupTableAccount({ key, state });
}

describe('published Yellowstone client', () => {
  it('receives a slot in order: bank, content, entries, statuses', async () => {
    const from = lab.wallet();
    const listening = await stream({
      ...nothing(),
      commitment: CommitmentLevel.PROCESSED,
      accounts: { accounts: all },
      slots: { slots: { interslotUpdates: true } },
      transactions: { transactions: anyTransaction },
      transactionsStatus: { statuses: anyTransaction },
      blocksMeta: { meta: {} },
      entry: { entries: {} },
    });
    const paid = lab.transfer(from, Keypair.generate().publicKey, SOL);
    const failed = lab.transfer(from, Keypair.generate().publicKey, 1_000 * SOL);
    for (const each of [paid, failed]) lab.node.submit(each);
    const { slot, blockhash } = lab.node.freeze();
    await slotReached(listening, slot, PROCESSED);
    const of = <Kind>(pick: (update: SubscribeUpdate) => Kind | undefined): Kind[] =>
      listening.updates.flatMap((update) => pick(update) ?? []);
    const transactions = of(({ transaction }) => transaction).filter((each) => each.slot === String(slot));
    expect(transactions.map(({ transaction }) => text(transaction?.signature))).toEqual(
      [paid, failed].map(signatureOf),
    );
    expect(transactions.map(({ transaction }) => transaction?.meta?.err === undefined)).toEqual([
      true,
      false,
    ]);
    expect(of(({ transactionStatus }) => transactionStatus?.index)).toEqual(
      expect.arrayContaining(['0', '1']),
    );
    const written = of(({ account }) => account).filter((each) => each.slot === String(slot));
    const writer = written.find(({ account }) => text(account?.pubkey) === from.publicKey.toBase58());
    expect(text(writer?.account?.txnSignature)).toBe(signatureOf(paid));
    const entries = of(({ entry }) => entry).filter((each) => each.slot === String(slot));
    expect(entries.map((each) => Number(each.executedTransactionCount))).toEqual([1, 1, 0, 0]);
    expect(text(entries.at(-1)?.hash)).toBe(blockhash);
    const [meta] = of(({ blockMeta }) => blockMeta).filter((each) => each.slot === String(slot));
    expect(meta).toMatchObject({ blockhash, executedTransactionCount: '2', entriesCount: '4' });
    const statuses = of(({ slot: received }) => received).filter((each) => each.slot === String(slot));
    // The bank was created before the client connected.
    expect(statuses.map(({ status }) => status).slice(-2)).toEqual([COMPLETED, PROCESSED]);
    expect(statuses.at(-1)?.parent).toBe(String(slot - 1n));
    listening.close();
  });

  it('filters by token owner and by lookup table address', async () => {
    const [payer, owner, loaded] = [lab.wallet(), Keypair.generate(), Keypair.generate()];
    const table = lookupTable(payer, [loaded.publicKey]);
    const include = (key: PublicKey) => ({ ...anyTransaction, accountInclude: [key.toBase58()] });
    const listening = await stream({
      ...nothing(),
      commitment: CommitmentLevel.PROCESSED,
      accounts: {
        tokens: { ...all, owner: [TOKEN_PROGRAM_ID.toBase58()], filters: [{ tokenAccountState: true }] },
      },
      slots: { slots: {} },
      transactions: {
        owner: { ...include(owner.publicKey), tokenAccounts: 1 },
        loaded: include(loaded.publicKey),
      },
    } as never);
    const account = tokenAccount(payer, owner.publicKey);
    const viaTable = lab.versioned([payer], [lab.payment(payer, loaded)], [table]);
    expect(lab.node.submit(viaTable)).toBeNull();
    const { slot } = lab.node.freeze();
    await slotReached(listening, slot, PROCESSED);
    const transactions = listening.updates.filter(({ transaction }) => transaction !== undefined);
    expect(transactions.map(({ filters }) => filters)).toEqual([['owner'], ['loaded']]);
    const meta = transactions[1]?.transaction?.transaction?.meta;
    expect(meta?.loadedWritableAddresses.map(text)).toEqual([loaded.publicKey.toBase58()]);
    const tokens = listening.updates.filter(({ filters }) => filters.includes('tokens'));
    expect(tokens.map(({ account: received }) => text(received?.account?.pubkey))).toEqual([
      account.toBase58(),
    ]);
    listening.close();
  });

  it('receives whole blocks with consistent counts', async () => {
    const from = lab.wallet();
    const block = {
      accountInclude: [],
      includeTransactions: true,
      includeAccounts: true,
      includeEntries: true,
    };
    const listening = await stream({
      ...nothing(),
      commitment: CommitmentLevel.CONFIRMED,
      blocks: { whole: block },
    });
    lab.node.submit(lab.transfer(from, Keypair.generate().publicKey, SOL));
    const { slot, blockhash } = lab.node.freeze();
    lab.freeze();
    const received = (await listening.first((update) => update.block?.slot === String(slot))).block;
    expect(received).toMatchObject({ blockhash, entriesCount: '3', executedTransactionCount: '1' });
    expect([received?.transactions.length, received?.entries.length]).toEqual([1, 3]);
    expect(received?.accounts).toHaveLength(Number(received?.updatedAccountCount));
    listening.close();
  });

  it('can replay slots from before a restart', async () => {
    const from = lab.wallet();
    const paid = lab.transfer(from, Keypair.generate().publicKey, SOL);
    lab.node.submit(paid);
    const { slot } = lab.node.freeze();
    await lab.durable();
    await geyser.close();
    await lab.reopen();
    await open();
    const listening = await listen(await client(), {
      ...nothing(),
      commitment: CommitmentLevel.PROCESSED,
      slots: { slots: {} },
      transactions: { transactions: anyTransaction },
      fromSlot: String(slot),
    });
    await slotReached(listening, slot, PROCESSED);
    const found = listening.updates.find(({ transaction }) => transaction !== undefined)?.transaction;
    expect([found?.slot, text(found?.transaction?.signature)]).toEqual([String(slot), signatureOf(paid)]);
    listening.close();
    const yellowstone = await client();
    expect(await yellowstone.subscribeReplayInfo()).toMatchObject({ firstAvailable: '0' });
    expect(await yellowstone.getSlot(CommitmentLevel.PROCESSED)).toMatchObject({ slot: String(slot) });
    expect(await yellowstone.getBlockHeight(CommitmentLevel.FINALIZED)).toMatchObject({ blockHeight: '0' });
    const latest = await yellowstone.getLatestBlockhash(CommitmentLevel.PROCESSED);
    expect(latest).toMatchObject({ slot: String(slot), blockhash: lab.blockhash });
    const valid = await yellowstone.isBlockhashValid(lab.blockhash, CommitmentLevel.PROCESSED);
    expect(valid).toMatchObject({ valid: true });
    expect(JSON.parse((await yellowstone.getVersion()).version)).toMatchObject({
      version: { package: 'solway' },
    });
    expect(await yellowstone.ping(3)).toMatchObject({ count: 3 });
  });

  it('can replay slots finalized long before a restart', async () => {
    const paid = lab.transfer(lab.wallet(), Keypair.generate().publicKey, SOL);
    lab.node.submit(paid);
    const { slot } = lab.node.freeze();
    lab.freeze(60);
    await lab.durable();
    await geyser.close();
    await lab.reopen();
    await open();
    const listening = await listen(await client(), {
      ...nothing(),
      commitment: CommitmentLevel.FINALIZED,
      blocksMeta: { metas: {} },
      transactions: { transactions: anyTransaction },
      fromSlot: String(slot),
    });
    await listening.first(({ blockMeta }) => blockMeta?.slot === String(slot + 5n));
    const found = listening.updates.find(({ transaction }) => transaction !== undefined)?.transaction;
    expect([found?.slot, text(found?.transaction?.signature)]).toEqual([String(slot), signatureOf(paid)]);
    const metas = listening.updates.flatMap(({ blockMeta }) => (blockMeta ? [BigInt(blockMeta.slot)] : []));
    expect(metas.slice(0, 6)).toEqual([0n, 1n, 2n, 3n, 4n, 5n].map((nth) => slot + nth));
    listening.close();
  });
});

describe('grpc-js client', () => {
  it('reads the same slot in bytes', async () => {
    const raw = new Client(`127.0.0.1:${geyser.port}`, credentials.createInsecure());
    const same = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
    const call = raw.makeBidiStreamRequest('/geyser.Geyser/Subscribe', same, same);
    const updates: Update[] = [];
    const arrived = Promise.withResolvers<void>();
    call.on('error', () => {});
    call.on('data', (bytes: Buffer) => {
      const { update } = decodeSubscribeUpdate(bytes);
      if (update === null) return;
      updates.push(update);
      if (update.kind === 'slot' && update.slot === 1n && update.status === 'processed') arrived.resolve();
    });
    call.write(
      encodeSubscribeRequest({
        commitment: 'processed',
        slots: new Map([['slots', {}]]),
        entry: ['entries'],
        blocksMeta: ['meta'],
        fromSlot: 1n as Slot,
      }),
    );
    const { blockhash } = lab.node.freeze();
    await arrived.promise;
    const entries = updates.flatMap((update) => (update.kind === 'entry' ? [update] : []));
    expect(entries.map(({ slot, index }) => [slot, index])).toEqual([
      [1n, 0],
      [1n, 1],
    ]);
    expect(entries.at(-1)?.hash).toBe(blockhash);
    expect(updates.find(({ kind }) => kind === 'blockMeta')).toMatchObject({ blockhash, entriesCount: 2 });
    call.cancel();
    raw.close();
  });
});

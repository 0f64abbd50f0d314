import { Keypair, LAMPORTS_PER_SOL, SystemProgram } from '@solana/web3.js';
import { CommitmentLevel, CompressedAccountFilterSet } from '@triton-one/yellowstone-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { FundedService } from './funded-service.ts';
import { connected, listen, nothing, type UpdateCollector } from './yellowstone-client.ts';

/** The published client against the whole service, from API key to the Geyser interface of the embedded ledger. */
let chain: FundedService;
const other = Keypair.generate();

beforeAll(async () => {
  chain = await FundedService.start(100);
}, 60_000);
afterAll(() => chain?.stop());

const client = (key = chain.keyOf('grpc')) => connected(chain.service.ready.grpcUrl, key);

/** Sends without preflight. @returns the signature. */
const transfer = async (lamports: number): Promise<Buffer> =>
  chain.send(await chain.transfer(other.publicKey, lamports));

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array): boolean =>
  a !== undefined && Buffer.from(a).equals(Buffer.from(b));

describe('unary calls', () => {
  it('return the same values as JSON-RPC', async () => {
    const yellowstone = await client();
    expect(await yellowstone.ping(7)).toMatchObject({ count: 7 });
    const before = await chain.connection.getSlot('processed');
    const slot = Number((await yellowstone.getSlot(CommitmentLevel.PROCESSED)).slot);
    expect(slot).toBeGreaterThan(before - 5);
    expect(slot).toBeLessThan((await chain.connection.getSlot('processed')) + 5);
    const latest = await yellowstone.getLatestBlockhash(CommitmentLevel.CONFIRMED);
    expect((await chain.connection.isBlockhashValid(latest.blockhash)).value).toBe(true);
    const height = Number((await yellowstone.getBlockHeight(CommitmentLevel.CONFIRMED)).blockHeight);
    expect(Number(latest.lastValidBlockHeight) - height).toBeLessThan(155);
    const { version } = JSON.parse((await yellowstone.getVersion()).version) as {
      version: { package: string; solana: string };
    };
    expect(version).toMatchObject({ package: 'solway', solana: expect.stringMatching(/^\d+\.\d+/) });
    expect(Number((await yellowstone.subscribeReplayInfo()).firstAvailable)).toBeLessThanOrEqual(slot);
  });
});

describe('a stream with every kind of filter', () => {
  let stream: UpdateCollector<import('@triton-one/yellowstone-grpc').SubscribeUpdate>;
  let good: Buffer;
  let failed: Buffer;

  beforeAll(async () => {
    const cuckoo = new CompressedAccountFilterSet(100);
    cuckoo.insert(other.publicKey.toBase58());
    const toOther = { account: [other.publicKey.toBase58()], owner: [], filters: [] };
    const anyTransaction = { accountInclude: [], accountExclude: [], accountRequired: [] };
    const ofPayer = { ...anyTransaction, accountInclude: [chain.payer.publicKey.toBase58()] };
    stream = await listen(await client(), {
      ...nothing(),
      commitment: CommitmentLevel.PROCESSED,
      accounts: {
        byAccount: toOther,
        byOwner: { account: [], owner: [SystemProgram.programId.toBase58()], filters: [] },
        byCuckoo: { account: [], owner: [], filters: [], cuckooAccountsFilter: cuckoo.toProto() },
        byLamports: { ...toOther, filters: [{ lamports: { gt: '999' } }] },
        bySignature: { ...toOther, nonemptyTxnSignature: true },
        never: { ...toOther, filters: [{ lamports: { lt: '1' } }] },
      },
      slots: { plain: {} },
      transactions: {
        every: anyTransaction,
        ofPayer: { ...ofPayer, vote: false },
        failed: { ...ofPayer, failed: true },
        required: {
          ...anyTransaction,
          accountRequired: [chain.payer, other].map(({ publicKey }) => publicKey.toBase58()),
        },
        excluded: { ...anyTransaction, vote: false, accountExclude: [chain.payer.publicKey.toBase58()] },
      },
      transactionsStatus: { ofPayerStatus: ofPayer },
      blocks: {
        whole: { accountInclude: [], includeTransactions: true, includeAccounts: true, includeEntries: true },
      },
      blocksMeta: { meta: {} },
      entry: { entries: {} },
    });
    // The first slot update shows that the request is active.
    await stream.first(({ slot }) => slot !== undefined);
    good = await transfer(LAMPORTS_PER_SOL);
    failed = await transfer(100_000 * LAMPORTS_PER_SOL);
  }, 60_000);
  afterAll(() => stream?.close());

  it('delivers accounts for each criterion, and none that match no filter', async () => {
    for (const name of ['byAccount', 'byOwner', 'byCuckoo', 'byLamports', 'bySignature']) {
      const { account } = await stream.first(
        ({ filters, account: observed }) =>
          filters.includes(name) && sameBytes(observed?.account?.pubkey, other.publicKey.toBytes()),
      );
      expect(sameBytes(account?.account?.txnSignature, good)).toBe(true);
      expect(account?.account?.lamports).toBe(String(LAMPORTS_PER_SOL));
    }
    expect(stream.updates.filter(({ filters }) => filters.includes('never'))).toEqual([]);
  });

  it('delivers transactions for each criterion, with all matching filter names in one message', async () => {
    const observed = (signature: Uint8Array) =>
      stream.first(({ transaction }) => sameBytes(transaction?.transaction?.signature, signature));
    expect((await observed(good)).filters.toSorted()).toEqual(['every', 'ofPayer', 'required']);
    const { filters, transaction } = await observed(failed);
    expect(filters.toSorted()).toEqual(['every', 'failed', 'ofPayer', 'required']);
    expect(transaction?.transaction?.meta?.err?.err.length).toBeGreaterThan(0);
    const status = await stream.first(({ transactionStatus }) =>
      sameBytes(transactionStatus?.signature, failed),
    );
    expect(status.filters).toEqual(['ofPayerStatus']);
    expect(status.transactionStatus?.err).toBeDefined();
    expect(stream.updates.some(({ filters: names }) => names.includes('excluded'))).toBe(false);
  });

  it('delivers whole blocks, block meta, and entries that end with the blockhash', async () => {
    const { slot } = (
      await stream.first(({ transaction }) => sameBytes(transaction?.transaction?.signature, good))
    ).transaction!;
    const { block, filters } = await stream.first(({ block: observed }) => observed?.slot === slot);
    expect(filters).toEqual(['whole']);
    expect(block!.transactions.some(({ signature }) => sameBytes(signature, good))).toBe(true);
    expect(block!.accounts.some(({ pubkey }) => sameBytes(pubkey, other.publicKey.toBytes()))).toBe(true);
    expect(block!.updatedAccountCount).toBe(String(block!.accounts.length));
    expect(encodeBase58(block!.entries.at(-1)!.hash)).toBe(block!.blockhash);
    const { blockMeta } = await stream.first(({ blockMeta: observed }) => observed?.slot === slot);
    expect(blockMeta).toMatchObject({
      blockhash: block!.blockhash,
      entriesCount: String(block!.entries.length),
      executedTransactionCount: String(block!.transactions.length),
    });
    const entries = stream.updates.filter(({ entry }) => entry?.slot === slot);
    expect(entries).toHaveLength(block!.entries.length);
  });
});

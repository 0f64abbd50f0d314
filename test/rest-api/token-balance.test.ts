import {
  createAssociatedTokenAccountInstruction,
  createBurnInstruction,
  createFreezeAccountInstruction,
  createInitializeAccountInstruction,
  createInitializeMint2Instruction,
  createMintToInstruction,
  getAssociatedTokenAddressSync,
  MINT_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  Keypair,
  type PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, decoded, SOL } from '../../packages/localnet/test/ledger/lab.ts';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { getInfo } from '../../src/rest-api/token/get_info.ts';
import { tokenBalance } from '../../src/rest-api/wallet/token_balance.ts';
import { lamports } from '../../src/solana/units.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';
import { Documents, heldToken, listing, numbered, tokenServices } from './token-fixtures.ts';

/** Mints and accounts, mostly created by real token program transactions. */
const payer = Keypair.generate();
const holder = Keypair.generate();
const wallet = holder.publicKey;
const LISTED = 7;
const DOCUMENT = 'https://example.org/7.json';

let rig: Rig;
let caller: LedgerCaller;

function run(signers: Keypair[], instructions: TransactionInstruction[]): void {
  const { blockhash } = rig.node.bank('processed');
  const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: signers[0]!.publicKey });
  transaction.add(...instructions).sign(...signers);
  expect(rig.node.submit(decoded(transaction.serialize()))).toBeNull();
  rig.freeze();
}

function makeMint(decimals: number, program: PublicKey): PublicKey {
  const mint = Keypair.generate();
  const { publicKey: authority } = payer;
  run(
    [payer, mint],
    [
      SystemProgram.createAccount({
        fromPubkey: authority,
        newAccountPubkey: mint.publicKey,
        lamports: SOL / 100,
        space: MINT_SIZE,
        programId: program,
      }),
      createInitializeMint2Instruction(mint.publicKey, decimals, authority, authority, program),
    ],
  );
  return mint.publicKey;
}

function associated(mint: PublicKey, program: PublicKey, amount: bigint): PublicKey {
  const account = getAssociatedTokenAddressSync(mint, wallet, false, program);
  run(
    [payer],
    [
      createAssociatedTokenAccountInstruction(payer.publicKey, account, wallet, mint, program),
      createMintToInstruction(mint, account, payer.publicKey, amount, [], program),
    ],
  );
  return account;
}

function another(mint: PublicKey, amount: bigint): PublicKey {
  const account = Keypair.generate();
  run(
    [payer, account],
    [
      SystemProgram.createAccount({
        fromPubkey: payer.publicKey,
        newAccountPubkey: account.publicKey,
        lamports: SOL / 100,
        space: 165,
        programId: TOKEN_PROGRAM_ID,
      }),
      createInitializeAccountInstruction(account.publicKey, mint, wallet),
      createMintToInstruction(mint, account.publicKey, payer.publicKey, amount),
    ],
  );
  return account.publicKey;
}

let plain: PublicKey;
let plainAccounts: PublicKey[];
let scattered: PublicKey;
let scatteredAccounts: PublicKey[];
let drained: PublicKey;
let drainedAccounts: PublicKey[];
let unheld: PublicKey;

beforeAll(async () => {
  rig = await openRig({
    accounts: [
      ...heldToken(LISTED, at(Keypair.generate().publicKey), {
        ...{ amount: 1_000n, decimals: 2, metadataFields: { uri: DOCUMENT } },
      }),
    ],
  });
  caller = new LedgerCaller(rig);
  rig.node.airdrop(at(payer.publicKey), lamports(100n * BigInt(SOL)));
  rig.freeze();
  plain = makeMint(6, TOKEN_PROGRAM_ID);
  plainAccounts = [associated(plain, TOKEN_PROGRAM_ID, 6_672_600n), another(plain, 70_000_000n)];
  scattered = makeMint(0, TOKEN_PROGRAM_ID);
  scatteredAccounts = [another(scattered, 3n), another(scattered, 40n), another(scattered, 5n)];
  drained = makeMint(0, TOKEN_PROGRAM_ID);
  drainedAccounts = [associated(drained, TOKEN_PROGRAM_ID, 0n), another(drained, 4n)];
  unheld = makeMint(3, TOKEN_2022_PROGRAM_ID);
  await rig.finalize(64);
});
afterAll(() => rig.close());

type Balance = { balance: number; associated_account: string; isFrozen: boolean };
const documents = new Documents({ [DOCUMENT]: { image: 'https://example.org/7.png' } });
const services = tokenServices(documents);
const balanceOf = async (mint: PublicKey): Promise<Balance> =>
  (await answerOf(tokenBalance, { wallet: wallet.toBase58(), token: mint.toBase58() }, caller, services))
    .result as unknown as Balance;

describe('wallet/token_balance', () => {
  it('sums all token accounts in two calls', async () => {
    caller.counts();
    const answer = await answerOf(
      tokenBalance,
      { wallet: wallet.toBase58(), token: plain.toBase58() },
      caller,
      services,
    );
    expect(caller.counts()).toEqual({ getTokenAccountsByOwner: 1, getMultipleAccounts: 1 });
    expect(answer).toEqual({
      message: 'Token balance fetched successfully',
      result: {
        address: plain.toBase58(),
        balance: 76.6726,
        associated_account: plainAccounts[0]!.toBase58(),
        info: { name: 'Unknown Token', symbol: 'Token', image: '' },
        isFrozen: false,
      },
    });
  });

  it('returns the fullest account without an associated one', async () => {
    expect(await balanceOf(scattered)).toMatchObject({
      ...{ balance: 48, associated_account: scatteredAccounts[1]!.toBase58() },
    });
  });

  it('prefers a non-empty account over an empty associated one', async () => {
    expect(await balanceOf(drained)).toMatchObject({
      ...{ balance: 4, associated_account: drainedAccounts[1]!.toBase58() },
    });
    run([payer, holder], [createBurnInstruction(drainedAccounts[1]!, drained, wallet, 4n)]);
    run([payer], [createFreezeAccountInstruction(drainedAccounts[0]!, drained, payer.publicKey)]);
    await rig.finalize();
    expect(await balanceOf(drained)).toMatchObject({
      ...{ balance: 0, associated_account: drainedAccounts[0]!.toBase58(), isFrozen: true },
    });
  });

  it('is 0 with the associated address for a token not held', async () => {
    const account = getAssociatedTokenAddressSync(unheld, wallet, false, TOKEN_2022_PROGRAM_ID);
    expect(await balanceOf(unheld)).toMatchObject({
      ...{ balance: 0, associated_account: account.toBase58(), isFrozen: false },
    });
  });

  it('returns an error for an address without mint', async () => {
    const fields = { wallet: wallet.toBase58(), token: wallet.toBase58(), network: 'devnet' };
    const failure = await failureOf(tokenBalance, fields, caller, services);
    expect(failure).toMatchObject({ code: 'NOT_A_MINT' });
    expect(failure.text).toBe(`${wallet.toBase58()} is not a token mint on devnet`);
  });
});

describe('token/get_info', () => {
  const infoOf = async (mint: string, list = tokenServices(documents)) =>
    (await answerOf(getInfo, { token_address: mint }, caller, list)).result as { [name: string]: unknown };

  it('returns authorities and supply in one call', async () => {
    caller.counts();
    expect(await answerOf(getInfo, { token_address: plain.toBase58() }, caller, services)).toEqual({
      message: 'Tokens info',
      result: {
        ...{ name: 'Unknown Token', symbol: 'Token', image: '', metadata_uri: '', address: plain.toBase58() },
        mint_authority: payer.publicKey.toBase58(),
        freeze_authority: payer.publicKey.toBase58(),
        ...{ current_supply: 76.6726, decimals: 6, extensions: [] },
      },
    });
    expect(caller.counts()).toEqual({ getMultipleAccounts: 1 });
  });

  it('returns metadata, with the image of document or list', async () => {
    const mint = numbered(1, LISTED);
    expect(await infoOf(mint)).toMatchObject({
      ...{ name: 'Token 7', symbol: 'TKN', metadata_uri: DOCUMENT, image: 'https://example.org/7.png' },
      ...{ freeze_authority: '', current_supply: 10 },
    });
    expect(documents.reads()).toEqual([DOCUMENT]);
    const list = listing({ [mint]: { name: 'Seven', symbol: 'VII', image: 'https://example.org/vii.png' } });
    expect(await infoOf(mint, tokenServices(documents, list))).toMatchObject({
      ...{ name: 'Seven', symbol: 'VII', metadata_uri: DOCUMENT, image: 'https://example.org/vii.png' },
    });
    expect(documents.reads()).toEqual([]);
  });

  it('returns an error for an address without mint', async () => {
    const account = plainAccounts[0]!.toBase58();
    const failure = await failureOf(getInfo, { token_address: account }, caller, services);
    expect([failure.code, failure.text]).toEqual([
      ...['NOT_A_MINT', `${account} is not a token mint on mainnet-beta`],
    ]);
  });
});

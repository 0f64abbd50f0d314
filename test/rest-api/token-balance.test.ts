import {
  AuthorityType,
  amountToUiAmountForInterestBearingMintWithoutSimulation,
  createAssociatedTokenAccountInstruction,
  createBurnInstruction,
  createFreezeAccountInstruction,
  createInitializeAccountInstruction,
  createInitializeMint2Instruction,
  createInitializeScaledUiAmountConfigInstruction,
  createInitializeTransferFeeConfigInstruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
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
import { mint, tokenAccount } from '../../packages/localnet/test/support/accounts.ts';
import { ByteWriter } from '../../src/base/bytes.ts';
import { getInfo } from '../../src/rest-api/token/get_info.ts';
import { allTokens } from '../../src/rest-api/wallet/all_tokens.ts';
import { tokenBalance } from '../../src/rest-api/wallet/token_balance.ts';
import type { Account } from '../../src/solana/account/account.ts';
import { programs, sysvars } from '../../src/solana/programs.ts';
import { decodeClock } from '../../src/solana/sysvars.ts';
import { lamports } from '../../src/solana/units.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';
import { Documents, heldToken, listing, numbered, tokenServices } from './token-fixtures.ts';

/** Mints and accounts, mostly created by real token program transactions. */
const payer = Keypair.generate();
const holder = Keypair.generate();
const wallet = holder.publicKey;
const INTEREST_BASIS_POINTS = 500;
/** In 2020. */
const BORN = 1_600_000_000;
const BORNE = 10_000_000n;
const LISTED = 7;
const DOCUMENT = 'https://example.org/7.json';

const bearing = Keypair.generate().publicKey;

/** Interest-bearing mint since 2020. */
function bearingMint(): Account {
  const bare = mint(BORNE, 4, programs.token2022);
  const data = new ByteWriter(170 + 52)
    .bytes(bare.data)
    .zeros(165 - bare.data.length)
    .u8(1)
    .u16(ExtensionType.InterestBearingConfig)
    .u16(52)
    .zeros(32)
    .i64(BigInt(BORN))
    .u16(INTEREST_BASIS_POINTS)
    .i64(BigInt(BORN))
    .u16(INTEREST_BASIS_POINTS)
    .finish();
  return { ...bare, data };
}

let rig: Rig;
let caller: LedgerCaller;

function run(signers: Keypair[], instructions: TransactionInstruction[]): void {
  const { blockhash } = rig.node.bank('processed');
  const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: signers[0]!.publicKey });
  transaction.add(...instructions).sign(...signers);
  expect(rig.node.submit(decoded(transaction.serialize()))).toBeNull();
  rig.freeze();
}

type Extend = (mint: PublicKey) => TransactionInstruction;

function makeMint(
  decimals: number,
  program: PublicKey,
  extensions: readonly (readonly [ExtensionType, Extend])[] = [],
): PublicKey {
  const mint = Keypair.generate();
  const space = getMintLen(extensions.map(([type]) => type));
  const { publicKey: authority } = payer;
  run(
    [payer, mint],
    [
      SystemProgram.createAccount({
        fromPubkey: authority,
        newAccountPubkey: mint.publicKey,
        lamports: SOL / 100,
        space,
        programId: program,
      }),
      ...extensions.map(([, extend]) => extend(mint.publicKey)),
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

const now = (): number =>
  Number(decodeClock(rig.node.bank('finalized').account(sysvars.clock)!.data)!.unixTimestamp);

let plain: PublicKey;
let plainAccounts: PublicKey[];
let scattered: PublicKey;
let scatteredAccounts: PublicKey[];
let drained: PublicKey;
let drainedAccounts: PublicKey[];
let frozen: PublicKey;
let unheld: PublicKey;
let scaled: PublicKey;

beforeAll(async () => {
  rig = await openRig({
    accounts: [
      ...heldToken(LISTED, at(Keypair.generate().publicKey), {
        ...{ amount: 1_000n, decimals: 2, metadataFields: { uri: DOCUMENT } },
      }),
      [at(bearing), bearingMint()],
      [numbered(2, 8), tokenAccount(at(bearing), at(wallet), BORNE, null, programs.token2022)],
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
  frozen = makeMint(2, TOKEN_2022_PROGRAM_ID);
  const cold = associated(frozen, TOKEN_2022_PROGRAM_ID, 250n);
  run([payer], [createFreezeAccountInstruction(cold, frozen, payer.publicKey, [], TOKEN_2022_PROGRAM_ID)]);
  unheld = makeMint(3, TOKEN_2022_PROGRAM_ID);
  const { publicKey: authority } = payer;
  scaled = makeMint(2, TOKEN_2022_PROGRAM_ID, [
    [
      ExtensionType.ScaledUiAmountConfig,
      (mint) => createInitializeScaledUiAmountConfigInstruction(mint, authority, 2.5, TOKEN_2022_PROGRAM_ID),
    ],
    [
      ExtensionType.TransferFeeConfig,
      (mint) =>
        createInitializeTransferFeeConfigInstruction(
          mint,
          authority,
          null,
          25,
          1_000n,
          TOKEN_2022_PROGRAM_ID,
        ),
    ],
  ]);
  associated(scaled, TOKEN_2022_PROGRAM_ID, 1_000n);
  const { MintTokens } = AuthorityType;
  run([payer], [createSetAuthorityInstruction(scattered, payer.publicKey, MintTokens, null)]);
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

  it('reports a frozen account, as the list does', async () => {
    expect(await balanceOf(frozen)).toMatchObject({ balance: 2.5, isFrozen: true });
    const all = await answerOf(allTokens, { wallet: wallet.toBase58() }, caller, services);
    const flags = (all.result as { address: string; isFrozen: boolean }[]).map((one) => [
      one.address,
      one.isFrozen,
    ]);
    expect(Object.fromEntries(flags)).toMatchObject({ [frozen.toBase58()]: true, [plain.toBase58()]: false });
  });

  it('applies interest as nodes and the SPL library do', async () => {
    const expected = amountToUiAmountForInterestBearingMintWithoutSimulation(
      ...([BORNE, 4, now(), BORN, BORN, INTEREST_BASIS_POINTS, INTEREST_BASIS_POINTS] as const),
    );
    const { balance } = await balanceOf(bearing);
    expect(balance).toBeGreaterThan(1_300);
    // The SPL library truncates the last digit, nodes round it.
    expect(Math.abs(balance - Number(expected))).toBeLessThan(0.00011);
    const { value } = await rig.result('getTokenAccountBalance', [numbered(2, 8)]);
    expect(balance).toBe(value.uiAmount);
  });

  it('applies the multiplier, also in the list', async () => {
    expect((await balanceOf(scaled)).balance).toBe(25);
    caller.counts();
    const all = await answerOf(allTokens, { wallet: wallet.toBase58() }, caller, services);
    expect(caller.counts()).toEqual({ getTokenAccountsByOwner: 2, getMultipleAccounts: 1 });
    const balances = (all.result as { address: string; balance: number }[]).map((one) => [
      one.address,
      one.balance,
    ]);
    expect(Object.fromEntries(balances)).toMatchObject({
      [scaled.toBase58()]: 25,
      [bearing.toBase58()]: (await balanceOf(bearing)).balance,
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

  it('has no mint authority after it was removed', async () => {
    expect(await infoOf(scattered.toBase58())).toMatchObject({ mint_authority: '', current_supply: 48 });
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

  it('returns extensions as in jsonParsed', async () => {
    const { value } = await rig.result('getAccountInfo', [scaled.toBase58(), { encoding: 'jsonParsed' }]);
    const { extensions, current_supply } = await infoOf(scaled.toBase58());
    expect(extensions).toEqual(value.data.parsed.info.extensions);
    expect((extensions as { extension: string }[]).map(({ extension }) => extension)).toEqual([
      ...['scaledUiAmountConfig', 'transferFeeConfig'],
    ]);
    expect(current_supply).toBe(25);
  });

  it('returns an error for an address without mint', async () => {
    const account = plainAccounts[0]!.toBase58();
    const failure = await failureOf(getInfo, { token_address: account }, caller, services);
    expect([failure.code, failure.text]).toEqual([
      ...['NOT_A_MINT', `${account} is not a token mint on mainnet-beta`],
    ]);
  });
});

import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRig, type Rig } from '../../packages/localnet/test/rig.ts';
import { key, mint, tokenAccount } from '../../packages/localnet/test/support/accounts.ts';
import { getInfo } from '../../src/rest-api/token/get_info.ts';
import { tokenBalance } from '../../src/rest-api/wallet/token_balance.ts';
import type { Address } from '../../src/solana/address.ts';
import { programs } from '../../src/solana/programs.ts';
import { answerOf, failureOf, LedgerCaller } from './ledger-caller.ts';
import { Documents, heldToken, listing, numbered, tokenServices } from './token-fixtures.ts';

const [WALLET, POOR] = [key(70), key(71)];
const tokenAt = (n: number): Address => numbered(1, n);
const [LISTED, PLAIN, SCATTERED, DRAINED, UNHELD] = [
  tokenAt(7),
  tokenAt(8),
  tokenAt(9),
  tokenAt(10),
  tokenAt(11),
];
const DOCUMENT = 'https://example.org/7.json';

/** Address that the SPL library derives. */
const associated = (of: Address, wallet: Address, program = programs.token): Address =>
  getAssociatedTokenAddressSync(
    new PublicKey(of),
    new PublicKey(wallet),
    true,
    new PublicKey(program),
  ).toBase58() as Address;

const frozen = tokenAccount(DRAINED, POOR, 0n);
/** Offset of the state; 2 is frozen. */
const STATE = 108;

const accounts = [
  ...heldToken(7, key(1), { amount: 1_000n, decimals: 2, metadataFields: { uri: DOCUMENT } }),
  [PLAIN, mint(76_672_600n, 6)] as const,
  [associated(PLAIN, WALLET), tokenAccount(PLAIN, WALLET, 6_672_600n)] as const,
  [numbered(2, 8), tokenAccount(PLAIN, WALLET, 70_000_000n)] as const,
  [SCATTERED, mint(48n, 0)] as const,
  ...[3n, 40n, 5n].map((amount, n) => [numbered(3, n), tokenAccount(SCATTERED, WALLET, amount)] as const),
  [DRAINED, mint(4n, 0)] as const,
  [associated(DRAINED, WALLET), tokenAccount(DRAINED, WALLET, 0n)] as const,
  [numbered(2, 10), tokenAccount(DRAINED, WALLET, 4n)] as const,
  [associated(DRAINED, POOR), { ...frozen, data: frozen.data.with(STATE, 2) }] as const,
  [UNHELD, mint(5n, 3, programs.token2022)] as const,
];

let rig: Rig;
let caller: LedgerCaller;
beforeAll(async () => {
  rig = await openRig({ accounts });
  rig.freeze(2);
});
afterAll(() => rig.close());
beforeEach(() => {
  caller = new LedgerCaller(rig);
});

const documents = new Documents({ [DOCUMENT]: { image: 'https://example.org/7.png' } });
const services = tokenServices(documents);
const balanceOf = async (token: Address, wallet = WALLET) =>
  (await answerOf(tokenBalance, { wallet, token }, caller, services)).result;

describe('wallet/token_balance', () => {
  it('sums all token accounts in two calls', async () => {
    const answer = await answerOf(tokenBalance, { wallet: WALLET, token: PLAIN }, caller, services);
    expect(caller.counts()).toEqual({ getTokenAccountsByOwner: 1, getMultipleAccounts: 1 });
    expect(answer).toEqual({
      message: 'Token balance fetched successfully',
      result: {
        address: PLAIN,
        balance: 76.6726,
        associated_account: associated(PLAIN, WALLET),
        info: { name: 'Unknown Token', symbol: 'Token', image: '' },
        isFrozen: false,
      },
    });
  });

  it.each([
    ['the fullest account if none is associated', SCATTERED, WALLET, 48, numbered(3, 1), false],
    ['a non-empty account over an empty associated one', DRAINED, WALLET, 4, numbered(2, 10), false],
    ['an empty associated account', DRAINED, POOR, 0, associated(DRAINED, POOR), true],
    [
      'the associated address of a token that the wallet does not hold',
      UNHELD,
      WALLET,
      0,
      associated(UNHELD, WALLET, programs.token2022),
      false,
    ],
  ])('shows %s', async (_, token, wallet, balance, associated_account, isFrozen) => {
    expect(await balanceOf(token, wallet)).toMatchObject({ balance, associated_account, isFrozen });
  });

  it('returns an error for an address without mint', async () => {
    const fields = { wallet: WALLET, token: WALLET, network: 'devnet' };
    const failure = await failureOf(tokenBalance, fields, caller, services);
    expect([failure.code, failure.text]).toEqual(['NOT_A_MINT', `${WALLET} is not a token mint on devnet`]);
  });
});

describe('token/get_info', () => {
  const infoOf = async (token_address: string, list = services) =>
    (await answerOf(getInfo, { token_address }, caller, list)).result;

  it('returns authorities and supply in one call', async () => {
    expect(await answerOf(getInfo, { token_address: PLAIN }, caller, services)).toEqual({
      message: 'Tokens info',
      result: {
        ...{ name: 'Unknown Token', symbol: 'Token', image: '', metadata_uri: '', address: PLAIN },
        ...{ mint_authority: key(1), freeze_authority: '' },
        ...{ current_supply: 76.6726, decimals: 6, extensions: [] },
      },
    });
    expect(caller.counts()).toEqual({ getMultipleAccounts: 1 });
  });

  it('returns metadata, with the image of document or list', async () => {
    expect(await infoOf(LISTED)).toMatchObject({
      ...{ name: 'Token 7', symbol: 'TKN', metadata_uri: DOCUMENT, image: 'https://example.org/7.png' },
      current_supply: 10,
    });
    expect(documents.reads()).toEqual([DOCUMENT]);
    const image = 'https://example.org/vii.png';
    const list = listing({ [LISTED]: { name: 'Seven', symbol: 'VII', image } });
    expect(await infoOf(LISTED, tokenServices(documents, list))).toMatchObject({
      ...{ name: 'Seven', symbol: 'VII', metadata_uri: DOCUMENT, image },
    });
    expect(documents.reads()).toEqual([]);
  });

  it('returns an error for an address without mint', async () => {
    const account = associated(PLAIN, WALLET);
    expect(await failureOf(getInfo, { token_address: account }, caller, services)).toMatchObject({
      code: 'NOT_A_MINT',
      text: `${account} is not a token mint on mainnet-beta`,
    });
  });
});

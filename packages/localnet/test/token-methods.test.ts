import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { programs } from '../../../src/solana/programs.ts';
import { openRig, type Rig, rpcError, serdeError } from './rig.ts';
import { account, key, mint, tokenAccount } from './support/accounts.ts';

const MINT = key(10);
const MINT_2022 = key(11);
const EMPTY_MINT = key(12);
const OWNER = key(20);
const DELEGATE = key(21);
const STRANGER = key(22);
const LARGE = key(30);
const SMALL = key(31);
const DELEGATED = key(32);
const OF_2022 = key(33);
/** Belongs to the other token program, so it is in no result of the mint. */
const FOREIGN = key(34);
const WIDE_MINT = key(13);
const HOLDERS = 21;
const NO_TOKEN = key(40);
const NO_MINT = key(41);
/** Mint data owned by another program. */
const FAKE_MINT = key(42);
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112';

let ledger: Rig;
beforeAll(async () => {
  ledger = await openRig({
    accounts: [
      [MINT, mint(18_446_744_073_709_551_615n, 2)],
      [MINT_2022, mint(5n, 0, programs.token2022)],
      [EMPTY_MINT, mint(0n, 9)],
      [LARGE, tokenAccount(MINT, OWNER, 9_007_199_254_740_993n)],
      [SMALL, tokenAccount(MINT, OWNER, 150n)],
      [DELEGATED, tokenAccount(MINT, STRANGER, 150n, DELEGATE)],
      [OF_2022, tokenAccount(MINT_2022, OWNER, 5n, DELEGATE, programs.token2022)],
      [FOREIGN, tokenAccount(MINT, OWNER, 900n, DELEGATE, programs.token2022)],
      [WIDE_MINT, mint(210n, 0)],
      ...Array.from({ length: HOLDERS }, (_, i) => {
        return [key(100 + i), tokenAccount(WIDE_MINT, STRANGER, BigInt(i))] as const;
      }),
      [NO_TOKEN, account(key(1), new Uint8Array(3))],
      [FAKE_MINT, mint(1n, 0, key(1))],
      [NO_MINT, account(programs.token, new Uint8Array(5))],
    ],
  });
  ledger.freeze(3);
});
afterAll(() => ledger.close());

const context = { apiVersion: '4.2.1', slot: 0 };
const amount = (text: string, decimals: number, ui: number, uiText: string): JsonValue => ({
  amount: text,
  decimals,
  uiAmount: ui,
  uiAmountString: uiText,
});
const HUGE = amount('9007199254740993', 2, 9_007_199_254_740_992 / 100, '90071992547409.93');
const SOME = amount('150', 2, 1.5, '1.5');

async function addresses(...call: Parameters<Rig['callRpc']>): Promise<JsonValue> {
  const answer = (await ledger.callRpc(...call)) as { value: { pubkey: string }[] };
  return answer.value?.map(({ pubkey }) => pubkey) ?? answer;
}

describe('getTokenAccountBalance', () => {
  it('returns the exact balance in base units and tokens', async () => {
    expect(await ledger.callRpc('getTokenAccountBalance', LARGE)).toEqual({ context, value: HUGE });
    expect(await ledger.callRpc('getTokenAccountBalance', OF_2022, { commitment: 'processed' })).toEqual({
      context: { ...context, slot: 3 },
      value: amount('5', 0, 5, '5'),
    });
  });

  it.each<[JsonValue[], JsonValue]>([
    [[key(99)], rpcError(-32602, 'Invalid param: could not find account')],
    [[NO_TOKEN], rpcError(-32602, 'Invalid param: not a Token account')],
    [[MINT], rpcError(-32602, 'Invalid param: not a Token account')],
  ])('rejects %j', async (params, error) => {
    expect(await ledger.callRpc('getTokenAccountBalance', ...params)).toEqual(error);
  });
});

describe('getTokenSupply', () => {
  it('returns the exact supply', async () => {
    const value = amount('18446744073709551615', 2, 2 ** 64 / 100, '184467440737095516.15');
    expect(await ledger.callRpc('getTokenSupply', MINT)).toEqual({ context, value });
  });

  it.each<[JsonValue[], JsonValue]>([
    [[key(99)], rpcError(-32602, 'Invalid param: could not find account')],
    [[FAKE_MINT], rpcError(-32602, 'Invalid param: not a Token mint')],
    [[LARGE], rpcError(-32602, 'Invalid param: mint could not be unpacked')],
  ])('rejects %j', async (params, error) => {
    expect(await ledger.callRpc('getTokenSupply', ...params)).toEqual(error);
  });
});

describe('getTokenLargestAccounts', () => {
  it('lists the largest holders first, ties by descending address', async () => {
    expect(await ledger.callRpc('getTokenLargestAccounts', MINT)).toEqual({
      context,
      value: [
        { address: LARGE, ...(HUGE as object) },
        { address: DELEGATED, ...(SOME as object) },
        { address: SMALL, ...(SOME as object) },
      ],
    });
    expect(await ledger.callRpc('getTokenLargestAccounts', EMPTY_MINT)).toEqual({ context, value: [] });
    expect(await ledger.callRpc('getTokenLargestAccounts', WRAPPED_SOL)).toEqual({ context, value: [] });
  });

  it('lists at most twenty', async () => {
    const answer = await ledger.callRpc('getTokenLargestAccounts', WIDE_MINT);
    const { value } = answer as { value: { amount: string }[] };
    expect(value.map((entry) => Number(entry.amount))).toEqual(Array.from({ length: 20 }, (_, i) => 20 - i));
  });

  it.each<[JsonValue[], JsonValue]>([
    [[key(99)], rpcError(-32602, 'Invalid param: could not find mint')],
    [[FAKE_MINT], rpcError(-32602, 'Invalid param: not a Token mint')],
    [[NO_MINT], rpcError(-32602, 'Invalid param: Token mint could not be unpacked')],
  ])('rejects %j', async (params, error) => {
    expect(await ledger.callRpc('getTokenLargestAccounts', ...params)).toEqual(error);
  });
});

describe('getTokenAccountsByOwner', () => {
  const base64 = { encoding: 'base64' };

  it('finds the accounts of a wallet by mint or program, sorted', async () => {
    expect(await addresses('getTokenAccountsByOwner', OWNER, { mint: MINT }, base64)).toEqual([LARGE, SMALL]);
    const program = (id: string): JsonValue => ({ programId: id });
    expect(await addresses('getTokenAccountsByOwner', OWNER, program(programs.token), base64)).toEqual([
      LARGE,
      SMALL,
    ]);
    expect(await addresses('getTokenAccountsByOwner', OWNER, program(programs.token2022), base64)).toEqual([
      OF_2022,
      FOREIGN,
    ]);
    expect(await addresses('getTokenAccountsByOwner', OWNER, { mint: WRAPPED_SOL })).toEqual([]);
  });

  it('parses token accounts', async () => {
    const answer = await ledger.callRpc(
      'getTokenAccountsByOwner',
      OWNER,
      { mint: MINT },
      { encoding: 'jsonParsed' },
    );
    expect(answer).toMatchObject({
      value: [
        {
          pubkey: LARGE,
          account: {
            lamports: 10_000_000,
            owner: programs.token,
            rentEpoch: 18446744073709551615n,
            space: 165,
            data: {
              program: 'spl-token',
              space: 165,
              parsed: { type: 'account', info: { mint: MINT, owner: OWNER, tokenAmount: HUGE } },
            },
          },
        },
        { pubkey: SMALL },
      ],
    });
  });

  it.each<[JsonValue[], JsonValue]>([
    [
      [OWNER, { mint: MINT }],
      rpcError(
        -32600,
        'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
      ),
    ],
    [[OWNER, { mint: key(99) }], rpcError(-32602, 'Invalid param: could not find mint')],
    [[OWNER, { mint: FAKE_MINT }], rpcError(-32602, 'Invalid param: not a Token mint')],
    [[OWNER, { mint: NO_MINT }], rpcError(-32602, 'Invalid param: Token mint could not be unpacked')],
    [[OWNER, { programId: OWNER }], rpcError(-32602, 'Invalid param: unrecognized Token program id')],
    [[OWNER, {}], serdeError('invalid value: map, expected map with a single key')],
    [[OWNER, { owner: OWNER }], serdeError('unknown variant `owner`, expected `mint` or `programId`')],
    [[OWNER, { mint: 5 }], serdeError('invalid type: integer `5`, expected a string')],
  ])('rejects %j', async (params, error) => {
    expect(await ledger.callRpc('getTokenAccountsByOwner', ...params)).toEqual(error);
  });
});

describe('getTokenAccountsByDelegate', () => {
  it('finds accounts by delegate', async () => {
    const found = (filter: JsonValue): Promise<JsonValue> =>
      addresses('getTokenAccountsByDelegate', DELEGATE, filter, { encoding: 'jsonParsed' });
    expect(await found({ mint: MINT })).toEqual([DELEGATED]);
    expect(await found({ programId: programs.token })).toEqual([DELEGATED]);
    expect(await found({ programId: programs.token2022 })).toEqual([OF_2022, FOREIGN]);
    expect(await addresses('getTokenAccountsByDelegate', OWNER, { mint: MINT })).toEqual([]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { encodeBase58 } from '../../../src/solana/base58.ts';
import { programs } from '../../../src/solana/programs.ts';
import { lamports } from '../../../src/solana/units.ts';
import { openRig, type Rig, rpcError, serdeError } from './rig.ts';
import { account, key, lockedStake, mint, tokenAccount } from './support/accounts.ts';

const PROGRAM = key(9);
const SHORT = key(10);
const LONG = key(11);
const RICH = key(12);
const ABSENT = key(99);
const MINT = key(13);
const TOKENS = key(14);
const ORPHAN = key(15);
const STAKE = key(16);

let ledger: Rig;
beforeAll(async () => {
  ledger = await openRig({
    accounts: [
      [SHORT, account(PROGRAM, Uint8Array.of(1, 2, 3, 4, 5))],
      [LONG, account(PROGRAM, new Uint8Array(129).fill(7))],
      [RICH, { ...account(programs.system, new Uint8Array()), lamports: lamports(9_007_199_254_740_993n) }],
      [MINT, mint(150n, 2)],
      [TOKENS, tokenAccount(MINT, PROGRAM, 150n)],
      [ORPHAN, tokenAccount(ABSENT, PROGRAM, 1n)],
      [STAKE, lockedStake(key(1), 5n, { locked: 100n, active: 0n })],
    ],
  });
  ledger.freeze(3);
});
afterAll(() => ledger.close());

const context = { apiVersion: '4.2.1', slot: 0 };
const shown = (data: JsonValue, space: number): JsonValue => ({
  data,
  executable: false,
  lamports: 10_000_000,
  owner: PROGRAM,
  rentEpoch: 18446744073709551615n,
  space,
});
const tooLong = rpcError(
  -32600,
  'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
);

describe('getAccountInfo', () => {
  it.each<[JsonValue[], JsonValue]>([
    [[SHORT], shown('7bWpTW', 5)],
    [[SHORT, { encoding: 'base64' }], shown(['AQIDBAU=', 'base64'], 5)],
    [[SHORT, { encoding: 'jsonParsed' }], shown(['AQIDBAU=', 'base64'], 5)],
    [[SHORT, { encoding: 'base64', dataSlice: { offset: 1, length: 2 } }], shown(['AgM=', 'base64'], 5)],
    [[LONG, { dataSlice: { offset: 128, length: 500 } }], shown('8', 129)],
    [[ABSENT], null],
    [[ABSENT, null], null],
  ])('returns %j', async (params, value) => {
    expect(await ledger.callRpc('getAccountInfo', ...params)).toEqual({ context, value });
  });

  it.each<[JsonValue[], JsonValue]>([
    [[LONG], tooLong],
    [[5], serdeError('invalid type: integer `5`, expected a string')],
    [['1', 5], serdeError('invalid type: integer `5`, expected struct RpcAccountInfoConfig')],
  ])('rejects %j', async (params, error) => {
    expect(await ledger.callRpc('getAccountInfo', ...params)).toEqual(error);
  });
});

describe('getBalance', () => {
  it.each<[JsonValue[], JsonValue]>([
    [[RICH], 9007199254740993n],
    [[SHORT], 10_000_000],
  ])('is exact for %j', async (params, value) => {
    expect(await ledger.callRpc('getBalance', ...params)).toEqual({ context, value });
  });
});

describe('getMultipleAccounts', () => {
  it('keeps the address order, with base64 by default', async () => {
    const value = [null, shown(['AQIDBAU=', 'base64'], 5), shown(['AQIDBAU=', 'base64'], 5)];
    expect(await ledger.callRpc('getMultipleAccounts', [ABSENT, SHORT, SHORT])).toEqual({ context, value });
    expect(await ledger.callRpc('getMultipleAccounts', [])).toEqual({ context, value: [] });
    expect(await ledger.callRpc('getMultipleAccounts', Array<string>(100).fill(ABSENT))).toEqual({
      context,
      value: Array<null>(100).fill(null),
    });
  });

  it.each<[string, JsonValue[], JsonValue]>([
    ['101 keys', [Array<string>(101).fill('bad')], rpcError(-32602, 'Too many inputs provided; max 100')],
    ['an invalid key', [[SHORT, '1']], rpcError(-32602, 'Invalid param: WrongSize')],
    ['no list', [SHORT], serdeError(`invalid type: string "${SHORT}", expected a sequence`)],
    ['long base58', [[SHORT, LONG], { encoding: 'base58' }], tooLong],
  ])('rejects %s', async (_what, params, error) => {
    expect(await ledger.callRpc('getMultipleAccounts', ...params)).toEqual(error);
  });
});

describe('getProgramAccounts', () => {
  const keysOf = async (program: string, config: { [name: string]: JsonValue }): Promise<JsonValue> => {
    const answer = await ledger.callRpc('getProgramAccounts', program, { encoding: 'base64', ...config });
    return Array.isArray(answer) ? answer.map((entry) => (entry as { pubkey: string }).pubkey) : answer;
  };
  const memcmp = (offset: number, bytes: JsonValue, encoding?: string): JsonValue =>
    encoding === undefined ? { memcmp: { offset, bytes } } : { memcmp: { offset, bytes, encoding } };

  it.each<[string, JsonValue[], JsonValue]>([
    ['no filter', [], [SHORT, LONG]],
    ['a size', [{ dataSize: 5 }], [SHORT]],
    ['a size without match', [{ dataSize: 18446744073709551615n }], []],
    ['bytes in base58', [memcmp(1, encodeBase58(Uint8Array.of(2, 3)))], [SHORT]],
    ['bytes in base64', [memcmp(1, 'AgM=', 'base64')], [SHORT]],
    ['bytes as numbers', [memcmp(1, [2, 3])], [SHORT]],
    ['bytes up to the end', [memcmp(4, [5])], [SHORT]],
    ['bytes past the end', [memcmp(4, [5, 0])], []],
    ['no bytes', [memcmp(5, '')], [SHORT, LONG]],
    ['two filters', [memcmp(0, [7]), { dataSize: 5 }], []],
    ['token accounts', ['tokenAccountState'], []],
  ])('filters by %s', async (_what, filters, found) => {
    expect(await keysOf(PROGRAM, { filters })).toEqual(found);
  });

  it('returns account and address, with context on request', async () => {
    const entry = { account: shown('7bWpTW', 5), pubkey: SHORT };
    const filters = [{ dataSize: 5 }];
    expect(await ledger.callRpc('getProgramAccounts', PROGRAM, { filters })).toEqual([entry]);
    expect(await ledger.callRpc('getProgramAccounts', PROGRAM, { filters, withContext: true })).toEqual({
      context,
      value: [entry],
    });
    expect(await ledger.callRpc('getProgramAccounts', ABSENT)).toEqual([]);
    const unsorted = await keysOf(PROGRAM, { sortResults: false });
    expect(new Set(unsorted as string[])).toEqual(new Set([SHORT, LONG]));
  });

  it('omits unparsed token accounts', async () => {
    const filters = [{ dataSize: 165 }, memcmp(32, PROGRAM)];
    expect(await keysOf(programs.token, { filters })).toEqual([TOKENS, ORPHAN]);
    expect(await keysOf(programs.token, { filters, encoding: 'jsonParsed' })).toEqual([TOKENS]);
  });

  it.each<[JsonValue[], JsonValue]>([
    [[PROGRAM], tooLong],
    [
      [PROGRAM, { filters: Array<JsonValue>(5).fill({ dataSize: 1 }) }],
      rpcError(-32602, 'Too many filters provided; max 4'),
    ],
    [[PROGRAM, { filters: {} }], serdeError('invalid type: map, expected a sequence')],
    [[PROGRAM, { withContext: 1 }], serdeError('invalid type: integer `1`, expected a boolean')],
    [
      [programs.token, { filters: [{ dataSize: 165 }, memcmp(32, [1, 2])] }],
      rpcError(-32602, 'Incorrect byte length 2 for SPL token owner filter, expected 32'),
    ],
    [
      [programs.token, { filters: ['tokenAccountState', memcmp(0, [1])] }],
      rpcError(-32602, 'Incorrect byte length 1 for SPL token mint filter, expected 32'),
    ],
  ])('rejects %j', async (params, error) => {
    expect(await ledger.callRpc('getProgramAccounts', ...params)).toEqual(error);
  });
});

describe('getMinimumBalanceForRentExemption', () => {
  it.each<[JsonValue[], JsonValue]>([
    [[0], 890_880],
    [[165], 2_039_280],
    [[0, { commitment: 'processed' }], 890_880],
    [[10 * 1024 * 1024], 72_981_780_480],
    [[10 * 1024 * 1024 + 1], rpcError(-32600, 'Invalid request')],
    [[-1], serdeError('invalid value: integer `-1`, expected usize')],
  ])('returns %j', async (params, result) => {
    expect(await ledger.callRpc('getMinimumBalanceForRentExemption', ...params)).toEqual(result);
  });
});

describe('getSupply', () => {
  it('excludes locked stakes', async () => {
    const answer = await ledger.callRpc('getSupply');
    const { value } = answer as { value: { [name: string]: JsonValue } };
    expect(value.nonCirculating).toBe(10_000_000);
    // Includes the mainnet-beta accounts that nodes list on every chain.
    expect(value.nonCirculatingAccounts).toHaveLength(111);
    expect(value.nonCirculatingAccounts).toContain(STAKE);
    const { total, circulating } = value;
    expect(BigInt(total as bigint) - BigInt(circulating as bigint)).toBe(10_000_000n);
    let sum = 0n;
    for (const [, { lamports: held }] of ledger.node.bank('finalized').accounts()) sum += held;
    expect(BigInt(total as bigint)).toBe(sum);
  });

  it('omits the list on request', async () => {
    const answer = await ledger.callRpc('getSupply', { excludeNonCirculatingAccountsList: true });
    expect(answer).toMatchObject({ context, value: { nonCirculatingAccounts: [] } });
  });
});

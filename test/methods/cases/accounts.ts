import { expect } from 'vitest';
import { programs } from '../../../src/solana/programs.ts';
import { answer, arity, badAddress, context, refusal, strictConfig } from '../case-families.ts';
import { fixed, invalid, type MethodCase, made } from '../method-case.ts';

const NOBODY = '"So11111111111111111111111111111111111111119"';
const KEYS_101 = JSON.stringify(Array.from({ length: 101 }, () => programs.system));
const tooLong = {
  code: -32600,
  message: 'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
};
const value = (expected: unknown) => (result: unknown) => expect(result).toMatchObject({ value: expected });

/** Reference solana-json-rpc.md §1.2. */
export const cases: readonly MethodCase[] = [
  ...(
    [
      ['binary', ''],
      ['base58', ['', 'base58']],
      ['base64', ['', 'base64']],
      // zstd frame of no bytes.
      ['base64+zstd', ['KLUv/SAAAQAA', 'base64+zstd']],
      ['jsonParsed', ['', 'base64']],
    ] as const
  ).map(([encoding, data]) =>
    answer(
      'getAccountInfo',
      `as ${encoding}`,
      made(({ wallet }) => [wallet, { encoding }]),
      value({ data, executable: false, owner: programs.system, space: 0 }),
    ),
  ),
  answer('getAccountInfo', 'null for nobody', fixed(`[${NOBODY}]`), value(null)),
  answer(
    'getAccountInfo',
    'a slice',
    made(({ token }) => [token.account, { encoding: 'base64', dataSlice: { offset: 64, length: 8 } }]),
    value({ data: [expect.any(String), 'base64'], space: 165 }),
  ),
  refusal(
    'getAccountInfo',
    'base58 of 165 bytes',
    made(({ token }) => [token.account]),
    tooLong,
  ),
  refusal(
    'getAccountInfo',
    'an encoding that is none',
    fixed(`[${NOBODY},{"encoding":"hex"}]`),
    invalid(/^Invalid params: unknown variant `hex`, expected one of /),
  ),
  ...badAddress('getAccountInfo'),
  ...arity('getAccountInfo', 1, 2),
  ...context('getAccountInfo', NOBODY),

  answer(
    'getBalance',
    'lamports',
    made(({ wallet }) => [wallet]),
    value(expect.any(Number)),
  ),
  answer('getBalance', '0 for nobody', fixed(`[${NOBODY}]`), value(0)),
  ...badAddress('getBalance'),
  ...arity('getBalance', 1, 2),
  ...context('getBalance', NOBODY),

  answer(
    'getMultipleAccounts',
    'with holes, in order',
    made(({ wallet, token }) => [[wallet, 'So11111111111111111111111111111111111111119', token.mint]]),
    value([{ space: 0 }, null, { space: 82 }]),
  ),
  refusal(
    'getMultipleAccounts',
    '101 addresses',
    fixed(`[${KEYS_101}]`),
    invalid('Too many inputs provided; max 100'),
  ),
  refusal(
    'getMultipleAccounts',
    'an address that is none',
    fixed('[["0"]]'),
    invalid('Invalid param: Invalid'),
  ),
  ...arity('getMultipleAccounts', 1, 2),
  ...context('getMultipleAccounts', '[]'),

  answer(
    'getProgramAccounts',
    'those that pass the filters',
    made(({ token }) => [
      programs.token,
      { encoding: 'base64', filters: [{ dataSize: 165 }, { memcmp: { offset: 0, bytes: token.mint } }] },
    ]),
    (result, { token }) => expect(result).toMatchObject([{ pubkey: token.account }]),
  ),
  answer('getProgramAccounts', 'with context', fixed(`[${NOBODY},{"withContext":true}]`), value([])),
  refusal(
    'getProgramAccounts',
    'five filters',
    fixed(
      `[${NOBODY},{"filters":[{"dataSize":1},{"dataSize":1},{"dataSize":1},{"dataSize":1},{"dataSize":1}]}]`,
    ),
    invalid('Too many filters provided; max 4'),
  ),
  refusal(
    'getProgramAccounts',
    'more than 128 bytes to compare',
    fixed(`[${NOBODY},{"filters":[{"memcmp":{"offset":0,"bytes":"${'1'.repeat(129)}"}}]}]`),
    invalid('Invalid param: DataTooLarge'),
  ),
  refusal(
    'getProgramAccounts',
    'bytes that are no base58',
    fixed(`[${NOBODY},{"filters":[{"memcmp":{"offset":0,"bytes":"0"}}]}]`),
    invalid(/^Invalid param: Base58DecodeError\(/),
  ),
  refusal(
    'getProgramAccounts',
    'bytes that are no base64',
    fixed(`[${NOBODY},{"filters":[{"memcmp":{"offset":0,"bytes":"!","encoding":"base64"}}]}]`),
    invalid(/^Invalid param: Base64DecodeError\(/),
  ),
  refusal(
    'getProgramAccounts',
    'an owner of 31 bytes',
    fixed(
      `["${programs.token}",{"filters":[{"dataSize":165},{"memcmp":{"offset":32,"bytes":"${'1'.repeat(31)}"}}]}]`,
    ),
    invalid('Incorrect byte length 31 for SPL token owner filter, expected 32'),
  ),
  refusal(
    'getProgramAccounts',
    'an owner of 31 bytes, whatever else is asked',
    fixed(
      `["${programs.token}",{"encoding":"base64","filters":[{"memcmp":{"offset":32,"bytes":"${'1'.repeat(31)}"}}]}]`,
    ),
    invalid('Incorrect byte length 31 for SPL token owner filter, expected 32'),
  ),
  refusal(
    'getProgramAccounts',
    'a mint of one byte',
    fixed(`["${programs.token}",{"encoding":"base64","filters":[{"memcmp":{"offset":0,"bytes":"2"}}]}]`),
    invalid('Incorrect byte length 1 for SPL token mint filter, expected 32'),
  ),
  answer(
    'getProgramAccounts',
    'a mint of one byte beside a whole owner',
    made(({ wallet }) => [
      programs.token,
      {
        encoding: 'base64',
        filters: [
          { dataSize: 165 },
          { memcmp: { offset: 32, bytes: wallet } },
          { memcmp: { offset: 0, bytes: '2' } },
        ],
      },
    ]),
    (result) => expect(result).toEqual([]),
  ),
  refusal('getProgramAccounts', 'base58 of long accounts', fixed(`["${programs.token}"]`), tooLong),
  ...badAddress('getProgramAccounts'),
  ...arity('getProgramAccounts', 1, 2),
  ...context('getProgramAccounts', NOBODY),

  answer('getMinimumBalanceForRentExemption', 'of nothing', fixed('[0]'), (result) =>
    expect(result).toBe(890_880),
  ),
  refusal('getMinimumBalanceForRentExemption', 'more than an account may hold', fixed('[10485761]'), {
    code: -32600,
    message: 'Invalid request',
  }),
  refusal(
    'getMinimumBalanceForRentExemption',
    'less than nothing',
    fixed('[-1]'),
    invalid('Invalid params: invalid value: integer `-1`, expected usize.'),
  ),
  ...arity('getMinimumBalanceForRentExemption', 1, 2),
  ...strictConfig('getMinimumBalanceForRentExemption', '0'),
];

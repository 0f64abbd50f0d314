import { expect } from 'vitest';
import { programs } from '../../../src/solana/programs.ts';
import { answer, arity, badAddress, context, refusal, strictConfig } from '../case-families.ts';
import { fixed, invalid, type MethodCase, made } from '../method-case.ts';

const NOBODY = '"So11111111111111111111111111111111111111119"';
const value = (expected: unknown) => (result: unknown) => expect(result).toMatchObject({ value: expected });
const TOKENS = `{"programId":"${programs.token}"}`;

/** A mint account owned by another program. */
const otherMint = (method: string, make: Parameters<typeof made>[0]): MethodCase =>
  refusal(method, 'a mint of another program', made(make), invalid('Invalid param: not a Token mint'));

const byHolder = (method: string): MethodCase[] => [
  answer(method, 'none for nobody', fixed(`[${NOBODY},${TOKENS}]`), value([])),
  refusal(
    method,
    'a program that is none',
    fixed(`[${NOBODY},{"programId":${NOBODY}}]`),
    invalid('Invalid param: unrecognized Token program id'),
  ),
  refusal(
    method,
    'a mint that is not there',
    fixed(`[${NOBODY},{"mint":${NOBODY}}]`),
    invalid('Invalid param: could not find mint'),
  ),
  refusal(
    method,
    'a mint that is none',
    made(({ wallet }) => [wallet, { mint: wallet }]),
    invalid('Invalid param: Token mint could not be unpacked'),
  ),
  otherMint(method, ({ wallet, token }) => [wallet, { mint: token.otherMint }]),
  ...badAddress(method, `,${TOKENS}`),
  ...arity(method, 2, 3),
  ...context(method, `${NOBODY},${TOKENS}`),
];

/** Reference solana-json-rpc.md §1.2. */
export const cases: readonly MethodCase[] = [
  answer(
    'getTokenAccountBalance',
    'an amount',
    made(({ token }) => [token.account]),
    value({ amount: '150', decimals: 2, uiAmount: 1.5, uiAmountString: '1.5' }),
  ),
  refusal(
    'getTokenAccountBalance',
    'nobody',
    fixed(`[${NOBODY}]`),
    invalid('Invalid param: could not find account'),
  ),
  refusal(
    'getTokenAccountBalance',
    'a wallet',
    made(({ wallet }) => [wallet]),
    invalid('Invalid param: not a Token account'),
  ),
  ...badAddress('getTokenAccountBalance'),
  ...arity('getTokenAccountBalance', 1, 2),
  ...strictConfig('getTokenAccountBalance', '"0"'),

  answer(
    'getTokenSupply',
    'an amount',
    made(({ token }) => [token.mint]),
    value({ amount: '150', decimals: 2 }),
  ),
  refusal('getTokenSupply', 'nobody', fixed(`[${NOBODY}]`), invalid('Invalid param: could not find account')),
  refusal(
    'getTokenSupply',
    'a wallet',
    made(({ wallet }) => [wallet]),
    invalid('Invalid param: not a Token mint'),
  ),
  refusal(
    'getTokenSupply',
    'a token account',
    made(({ token }) => [token.account]),
    invalid('Invalid param: mint could not be unpacked'),
  ),
  otherMint('getTokenSupply', ({ token }) => [token.otherMint]),
  ...badAddress('getTokenSupply'),
  ...arity('getTokenSupply', 1, 2),
  ...strictConfig('getTokenSupply', '"0"'),

  answer(
    'getTokenLargestAccounts',
    'the largest first',
    made(({ token }) => [token.mint]),
    value([{ amount: '150', decimals: 2 }]),
  ),
  refusal(
    'getTokenLargestAccounts',
    'nobody',
    fixed(`[${NOBODY}]`),
    invalid('Invalid param: could not find mint'),
  ),
  refusal(
    'getTokenLargestAccounts',
    'a wallet',
    made(({ wallet }) => [wallet]),
    invalid('Invalid param: Token mint could not be unpacked'),
  ),
  otherMint('getTokenLargestAccounts', ({ token }) => [token.otherMint]),
  ...badAddress('getTokenLargestAccounts'),
  ...arity('getTokenLargestAccounts', 1, 2),
  ...strictConfig('getTokenLargestAccounts', '"0"'),

  answer(
    'getTokenAccountsByOwner',
    'of a program',
    made(({ wallet }) => [wallet, { programId: programs.token }, { encoding: 'jsonParsed' }]),
    value([{ account: { data: { program: 'spl-token' } } }]),
  ),
  answer(
    'getTokenAccountsByOwner',
    'of a mint',
    made(({ wallet, token }) => [wallet, { mint: token.mint }, { encoding: 'base64' }]),
    value([{ account: { space: 165 } }]),
  ),
  refusal(
    'getTokenAccountsByOwner',
    'the default encoding for accounts that are too long for it',
    made(({ wallet }) => [wallet, { programId: programs.token }]),
    { code: -32600, message: /^Encoded binary \(base 58\) data should be less than 128 bytes/ },
  ),
  ...byHolder('getTokenAccountsByOwner'),

  answer(
    'getTokenAccountsByDelegate',
    'of a program',
    made(({ token }) => [token.delegate, { programId: programs.token }, { encoding: 'jsonParsed' }]),
    value([{ account: { data: { program: 'spl-token' } } }]),
  ),
  ...byHolder('getTokenAccountsByDelegate'),
];

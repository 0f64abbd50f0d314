import { describe, expect, it } from 'vitest';
import { key } from '../../../../test/streams/ledger-script.ts';
import { type AccountFields, accountUpdate } from '../../../../test/streams/random-updates.ts';
import type { AccountsDataFilter, AccountsFilter } from '../../../protocol/geyser/subscribe-request.ts';
import { lamports } from '../../../solana/units.ts';
import { AccountRule } from './account-rule.ts';

const passes = (filter: AccountsFilter, account: AccountFields): boolean =>
  new AccountRule('name', filter).passes(accountUpdate(account));

const bytes = (...values: number[]) => Uint8Array.from(values);

/** Zeros of this length, except for the given bytes. */
function dataOf(length: number, at: Readonly<Record<number, number>> = {}): Uint8Array {
  const data = new Uint8Array(length);
  for (const [offset, value] of Object.entries(at)) data[Number(offset)] = value;
  return data;
}

const memcmp = (offset: bigint, ...values: number[]): AccountsDataFilter => ({
  kind: 'memcmp',
  offset,
  bytes: bytes(...values),
});
const compare = (how: 'eq' | 'ne' | 'lt' | 'gt', value: bigint): AccountsDataFilter => ({
  kind: 'lamports',
  compare: how,
  value: lamports(value),
});

describe('a filter of accounts', () => {
  it.each<[string, boolean, AccountsFilter, AccountFields]>([
    ['any account when it has no conditions', true, {}, {}],
    ['any account when its lists are empty', true, { account: [], owner: [], filters: [] }, {}],
    ['an address outside of its list', false, { account: [key(5), key(6)] }, { address: 1 }],
    ['an owner outside of its list', false, { owner: [key(5)] }, { owner: 2 }],
    ['a write of a transaction', true, { nonemptyTxnSignature: true }, { isByTransaction: true }],
    ['the writes of slots', true, { nonemptyTxnSignature: false }, { isByTransaction: false }],
  ])('matches %s: %s', (_, expected, filter, account) => {
    expect(passes(filter, account)).toBe(expected);
  });

  it.each<[string, boolean, readonly AccountsDataFilter[], AccountFields]>([
    ['bytes at an offset', true, [memcmp(1n, 2, 3)], { data: bytes(1, 2, 3) }],
    ['data that ends within them', false, [memcmp(2n, 3, 0)], { data: bytes(1, 2, 3) }],
    ['no bytes at the very end', true, [memcmp(3n)], { data: bytes(1, 2, 3) }],
    ['no bytes beyond the end', false, [memcmp(4n)], { data: bytes(1, 2, 3) }],
    ['an offset beyond any data', false, [memcmp(2n ** 64n - 1n)], { data: bytes(1, 2, 3) }],
    ['a size', true, [{ kind: 'dataSize', bytes: 3n }], { data: bytes(1, 2, 3) }],
    ['equal lamports', true, [compare('eq', 5n)], { lamports: 5n }],
    ['lamports that do not differ', false, [compare('ne', 5n)], { lamports: 5n }],
    ['fewer lamports', true, [compare('lt', 5n)], { lamports: 4n }],
    ['lamports that are not fewer', false, [compare('lt', 5n)], { lamports: 5n }],
    ['more lamports', true, [compare('gt', 5n)], { lamports: 6n }],
    ['lamports that are not more', false, [compare('gt', 5n)], { lamports: 5n }],
    ['lamports beyond 2^53', false, [compare('eq', 2n ** 53n)], { lamports: 2n ** 53n + 1n }],
  ])('matches %s: %s', (_, expected, filters, account) => {
    expect(passes({ filters }, account)).toBe(expected);
  });

  it.each<[string, boolean, Uint8Array]>([
    ['a token account', true, dataOf(165, { 108: 1 })],
    ['an uninitialized token account', false, dataOf(165)],
    ['a frozen token account', true, dataOf(165, { 108: 2 })],
    ['shorter data', false, dataOf(164, { 108: 1 })],
    ['a token account with extensions', true, dataOf(170, { 108: 1, 165: 2 })],
    ['a mint with extensions', false, dataOf(170, { 108: 1, 165: 1 })],
    ['data of the length of a multisig', false, dataOf(355, { 108: 1, 165: 2 })],
  ])('matches %s by its data alone: %s', (_, expected, data) => {
    expect(passes({ filters: [{ kind: 'tokenAccountState' }] }, { data })).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { key, signature } from '../../../../test/streams/ledger-script.ts';
import { type TransactionFields, transactionUpdate } from '../../../../test/streams/random-updates.ts';
import type { TransactionsFilter } from '../../../protocol/geyser/subscribe-request.ts';
import { TokenOwners } from './token-owners.ts';
import { TransactionRule } from './transaction-rule.ts';

const passes = (filter: TransactionsFilter, transaction: TransactionFields): boolean =>
  new TransactionRule('name', filter).passes(transactionUpdate(transaction), new TokenOwners());

const manyKeys = Array.from({ length: 40 }, (_, i) => key(i + 1));

describe('a filter of transactions', () => {
  it.each<[string, boolean, TransactionsFilter, TransactionFields]>([
    ['any transaction when it has no conditions', true, {}, {}],
    ['what is no vote', false, { vote: true }, { isVote: false }],
    ['its signature', true, { signature: signature(4) }, { signature: 4 }],
    ['another signature', false, { signature: signature(4) }, { signature: 5 }],
    ['none of the keys included', false, { accountInclude: [key(9)] }, { keys: [1, 2] }],
    ['a key required twice', true, { accountRequired: [key(2), key(2)] }, { keys: [2] }],
    ['more keys required than it has', false, { accountRequired: manyKeys }, { keys: [1, 2, 3] }],
  ])('knows %s: %s', (_, expected, filter, transaction) => {
    expect(passes(filter, transaction)).toBe(expected);
  });

  it.each<[string, boolean, TransactionsFilter, TransactionFields]>([
    ['no owner unless configured', false, {}, { before: [{ at: 1, owner: 50, amount: '5' }] }],
    ['an owner before', true, { tokenAccounts: 'all' }, { before: [{ at: 1, owner: 50, amount: '5' }] }],
    [
      'an owner that is no address',
      false,
      { tokenAccounts: 'all' },
      { after: [{ at: 1, owner: 'I0l', amount: '5' }] },
    ],
    [
      'a new account',
      true,
      { tokenAccounts: 'balanceChanged' },
      { after: [{ at: 1, owner: 50, amount: '0' }] },
    ],
  ])('counts as a key %s: %s', (_, expected, filter, transaction) => {
    expect(passes({ ...filter, accountInclude: [key(50)] }, transaction)).toBe(expected);
    expect(passes({ ...filter, accountRequired: [key(50)] }, transaction)).toBe(expected);
    expect(passes({ ...filter, accountExclude: [key(50)] }, transaction)).toBe(!expected);
  });

  it('finds no owners on the shred stage', () => {
    const rule = new TransactionRule('name', { tokenAccounts: 'all', accountInclude: [key(50)] });
    expect(rule.passes({ ...transactionUpdate(), meta: null }, new TokenOwners())).toBe(false);
  });
});

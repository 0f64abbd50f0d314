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
    ['a vote', true, { vote: true }, { isVote: true }],
    ['what is no vote', false, { vote: true }, { isVote: false }],
    ['what shall be no vote', false, { vote: false }, { isVote: true }],
    ['one that failed', true, { failed: true }, { hasFailed: true }],
    ['one that succeeded', false, { failed: true }, { hasFailed: false }],
    ['what shall have succeeded', false, { failed: false }, { hasFailed: true }],
    ['its signature', true, { signature: signature(4) }, { signature: 4 }],
    ['another signature', false, { signature: signature(4) }, { signature: 5 }],
    ['any of the keys included', true, { accountInclude: [key(9), key(2)] }, { keys: [1, 2] }],
    ['none of the keys included', false, { accountInclude: [key(9)] }, { keys: [1, 2] }],
    ['a key excluded', false, { accountExclude: [key(2)] }, { keys: [1, 2] }],
    ['no key excluded', true, { accountExclude: [key(9)] }, { keys: [1, 2] }],
    ['all keys required', true, { accountRequired: [key(2), key(1)] }, { keys: [1, 2, 3] }],
    ['not all keys required', false, { accountRequired: [key(2), key(9)] }, { keys: [1, 2, 3] }],
    ['a key required twice', true, { accountRequired: [key(2), key(2)] }, { keys: [2] }],
    ['more keys required than it has', false, { accountRequired: manyKeys }, { keys: [1, 2, 3] }],
    [
      'an included key beside an excluded one',
      false,
      { accountInclude: [key(1)], accountExclude: [key(2)] },
      {},
    ],
    [
      'a required key without an included one',
      false,
      { accountInclude: [key(9)], accountRequired: [key(2)] },
      {},
    ],
  ])('knows %s: %s', (_, expected, filter, transaction) => {
    expect(passes(filter, transaction)).toBe(expected);
  });

  it.each<[string, boolean, TransactionsFilter, TransactionFields]>([
    ['no owner unless configured', false, {}, { before: [{ at: 1, owner: 50, amount: '5' }] }],
    ['an owner before', true, { tokenAccounts: 'all' }, { before: [{ at: 1, owner: 50, amount: '5' }] }],
    ['an owner after', true, { tokenAccounts: 'all' }, { after: [{ at: 1, owner: 50, amount: '5' }] }],
    ['another owner', false, { tokenAccounts: 'all' }, { after: [{ at: 1, owner: 51, amount: '5' }] }],
    [
      'an owner that is no address',
      false,
      { tokenAccounts: 'all' },
      { after: [{ at: 1, owner: 'I0l', amount: '5' }] },
    ],
    [
      'an amount that is the same',
      false,
      { tokenAccounts: 'balanceChanged' },
      { before: [{ at: 1, owner: 50, amount: '5' }], after: [{ at: 1, owner: 50, amount: '5' }] },
    ],
    [
      'an amount that differs',
      true,
      { tokenAccounts: 'balanceChanged' },
      { before: [{ at: 1, owner: 50, amount: '5' }], after: [{ at: 1, owner: 50, amount: '6' }] },
    ],
    [
      'the same amount in another account',
      true,
      { tokenAccounts: 'balanceChanged' },
      { before: [{ at: 1, owner: 51, amount: '5' }], after: [{ at: 2, owner: 50, amount: '5' }] },
    ],
    [
      'a new account',
      true,
      { tokenAccounts: 'balanceChanged' },
      { after: [{ at: 1, owner: 50, amount: '0' }] },
    ],
    [
      'a closed account',
      true,
      { tokenAccounts: 'balanceChanged' },
      { before: [{ at: 1, owner: 50, amount: '0' }] },
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

import { describe, expect, it } from 'vitest';
import { key } from '../../../../test/streams/ledger-script.ts';
import {
  RecordingSink,
  type TransactionFields,
  transactionUpdate,
} from '../../../../test/streams/random-updates.ts';
import type { TransactionsFilter } from '../../../protocol/geyser/subscribe-request.ts';
import { TokenOwners } from '../filters/token-owners.ts';
import { TransactionRule } from '../filters/transaction-rule.ts';
import { FilterGroup, Listener, Matches, Watcher } from './filter-group.ts';
import { TransactionIndex } from './transaction-index.ts';

/** Counts how often an index looks at it. */
class CountedRule extends TransactionRule {
  looks = 0;

  override passes(...transaction: Parameters<TransactionRule['passes']>): boolean {
    this.looks += 1;
    return super.passes(...transaction);
  }

  override passesRest(...transaction: Parameters<TransactionRule['passesRest']>): boolean {
    this.looks += 1;
    return super.passesRest(...transaction);
  }
}

/** Filters that an index looks at for one transaction, once those of some numbers are gone. */
function looksAt(
  filters: readonly TransactionsFilter[],
  transaction: TransactionFields,
  isGone: (nth: number) => boolean = () => false,
): number {
  const index = new TransactionIndex(new TokenOwners());
  const names = filters.map((_, i) => `f${i}`);
  const lane = new FilterGroup(new Listener(new RecordingSink(), null), names);
  const rules = filters.map((filter, i) => new CountedRule(`f${i}`, filter));
  const watchers = rules.map((rule, i) => new Watcher<TransactionRule>(rule, lane, i));
  for (const watcher of watchers) index.add(watcher);
  index.remove(watchers.filter((_, nth) => isGone(nth)));
  const matches = new Matches();
  matches.start();
  index.match(transactionUpdate(transaction), matches);
  return rules.reduce((sum, { looks }) => sum + looks, 0);
}

const many = (of: (n: number) => TransactionsFilter) => Array.from({ length: 100 }, (_, n) => of(n));

describe('filters of transactions in an index', () => {
  it('are not looked at for a transaction whose status they refuse, when they name no key', () => {
    const votes = many((n) => ({ vote: true, accountExclude: [key(100 + n)] }));
    const failures = many((n) => ({ failed: true, accountExclude: [key(100 + n)] }));
    expect(looksAt([...votes, ...failures, {}], {})).toBe(1);
    expect(looksAt([...votes, ...failures, {}], { isVote: true })).toBe(101);
    expect(looksAt([...votes, { failed: true }], { hasFailed: true })).toBe(1);
  });

  it('are not looked at when they are gone and name no key', () => {
    expect(
      looksAt(
        many(() => ({ vote: false })),
        {},
        (nth) => nth > 2,
      ),
    ).toBe(3);
  });

  it('are looked at by the key that fewest of them wait for, of those that must all be there', () => {
    expect(
      looksAt(
        many((n) => ({ accountRequired: [key(1), key(100 + n)] })),
        { keys: [1, 120] },
      ),
    ).toBe(2);
  });
});

import { describe, expect, it } from 'vitest';
import { key } from '../../../../test/streams/ledger-script.ts';
import { accountUpdate, RecordingSink } from '../../../../test/streams/random-updates.ts';
import type { RawAccount } from '../../../protocol/geyser/raw-update.ts';
import type { AccountsDataFilter, AccountsFilter } from '../../../protocol/geyser/subscribe-request.ts';
import { lamports } from '../../../solana/units.ts';
import { AccountRule } from '../filters/account-rule.ts';
import { EqualityIndex, isEqualWatcher } from './equality-index.ts';
import { FilterGroup, Listener, Matches, Watcher } from './filter-group.ts';

type EqualWatcher = Parameters<EqualityIndex['add']>[0];

/** Counts how often an index looks at it. */
class CountedRule extends AccountRule {
  looks = 0;

  override passes(account: RawAccount): boolean {
    this.looks += 1;
    return super.passes(account);
  }

  override passesOfOwner(account: RawAccount): boolean {
    this.looks += 1;
    return super.passesOfOwner(account);
  }
}

const memcmp = (offset: number, ...values: number[]): AccountsDataFilter => ({
  kind: 'memcmp',
  offset: BigInt(offset),
  bytes: Uint8Array.from(values),
});
const dataSize = (bytes: number): AccountsDataFilter => ({ kind: 'dataSize', bytes: BigInt(bytes) });

/** An index with filters in it, in one lane. */
function indexOf(filters: readonly AccountsFilter[]) {
  const index = new EqualityIndex();
  const lane = new FilterGroup(
    new Listener(new RecordingSink(), null),
    filters.map((_, i) => `f${i}`),
  );
  const rules = filters.map((filter, i) => new CountedRule(`f${i}`, filter));
  const watchers = rules.map((rule, i) => {
    const watcher: Watcher<AccountRule> = new Watcher<AccountRule>(rule, lane, i);
    if (!isEqualWatcher(watcher)) throw new Error('the filter has no equality condition');
    index.add(watcher);
    return watcher;
  });
  return { index, rules, watchers };
}

/** Filters that an index looks at for one account. */
function looksAt(filters: readonly AccountsFilter[], data: readonly number[], owner = 2): number {
  const { index, rules } = indexOf(filters);
  const matches = new Matches();
  matches.start();
  index.match(accountUpdate({ owner, data: Uint8Array.from(data), lamports: 3n }), matches);
  return rules.reduce((sum, { looks }) => sum + looks, 0);
}

const many = (of: (n: number) => AccountsFilter) => Array.from({ length: 200 }, (_, n) => of(n));

function remove(index: EqualityIndex, watchers: readonly EqualWatcher[], run: number): void {
  for (const watcher of watchers) watcher.isRemoved = true;
  for (const watcher of watchers) index.sweep(watcher, run);
}

describe('filters by what must be equal', () => {
  it.each<[string, (n: number) => AccountsFilter]>([
    ['bytes of one owner', (n) => ({ owner: [key(2)], filters: [memcmp(1, n), dataSize(4)] })],
    ['the lamports', (n) => ({ filters: [{ kind: 'lamports', compare: 'eq', value: lamports(BigInt(n)) }] })],
    ['bytes of one of several owners', (n) => ({ owner: [key(2), key(3)], filters: [memcmp(1, n)] })],
  ])('are checked only when %s match, however many there are', (_, of) => {
    expect(looksAt(many(of), [9, 7, 7, 7])).toBe(1);
  });

  it('leave nothing behind when they go, together or one after the other', () => {
    const filters = many((n) => ({
      ...(n % 2 === 0 ? { owner: [key(1 + (n % 7)), key(9)] } : {}),
      filters: [memcmp(n % 11, n % 5), ...(n % 3 === 0 ? [dataSize(n % 4)] : [])],
    }));
    const { index, watchers } = indexOf(filters);
    expect(index.size).toBeGreaterThan(100);
    remove(index, watchers.slice(0, 120), 1);
    watchers.slice(120).forEach((watcher, n) => {
      remove(index, [watcher], 2 + n);
    });
    expect(index.size).toBe(0);
  });
});

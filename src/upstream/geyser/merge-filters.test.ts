import { describe, expect, it } from 'vitest';
import type {
  AccountsFilter,
  CuckooFilterMessage,
  SubscribeRequest,
} from '../../protocol/geyser/subscribe-request.ts';
import { addressFromBytes } from '../../solana/address.ts';
import { signatureFromBytes } from '../../solana/signature.ts';
import { FilterMerger } from './merge-filters.ts';

const at = (n: number) => addressFromBytes(new Uint8Array(32).fill(n));
const cuckoo: CuckooFilterMessage = {
  data: new Uint8Array(8).fill(7),
  bucketCount: 1,
  entriesPerBucket: 4,
  fingerprintBits: 16,
  hashSeed: 5n,
  hashAlgorithm: 0,
};

function mergedFilters(request: SubscribeRequest) {
  const union = new FilterMerger({ filtersMax: 10, addressesMax: 10 });
  union.add(request);
  const { accounts, transactions } = union.request('exact');
  const only = <Filter>(filters: ReadonlyMap<string, Filter> | undefined): Filter | undefined => {
    expect(filters?.size ?? 0).toBeLessThan(2);
    return filters === undefined ? undefined : [...filters.values()][0];
  };
  return { accounts: only(accounts), transactions: only(transactions) };
}

/** A cuckoo filter and the plain address list beside it are alternatives. */
describe('a request with a cuckoo filter', () => {
  it('requests all accounts instead of the address list', () => {
    const accounts = new Map([['a', { account: [at(1)], cuckooAccounts: cuckoo }]]);
    expect(mergedFilters({ accounts })).toEqual({ accounts: {}, transactions: undefined });
  });

  it('requests all accounts of the owners', () => {
    const accounts = new Map([['a', { account: [at(1)], owner: [at(2)], cuckooAccounts: cuckoo }]]);
    expect(mergedFilters({ accounts }).accounts).toEqual({ owner: [at(2)] });
  });

  it('requests all transactions that pass the vote and required account conditions', () => {
    const filter = { accountInclude: [at(1)], cuckooAccountInclude: cuckoo };
    expect(mergedFilters({ transactions: new Map([['t', filter]]) }).transactions).toEqual({});
    const more = { ...filter, vote: false, accountRequired: [at(2)] };
    expect(mergedFilters({ transactions: new Map([['t', more]]) }).transactions).toEqual({
      vote: false,
      accountRequired: [at(2)],
    });
    expect(mergedFilters({ transactionsStatus: new Map([['s', filter]]) }).transactions).toEqual({});
  });

  it('requests everything in blocks', () => {
    const filter = { accountInclude: [at(1)], cuckooAccountInclude: cuckoo, includeAccounts: true };
    expect(mergedFilters({ blocks: new Map([['b', filter]]) })).toEqual({ accounts: {}, transactions: {} });
  });
});

it('requests only the transaction with a requested signature', () => {
  const filter = { signature: signatureFromBytes(new Uint8Array(64).fill(1)) };
  expect(mergedFilters({ transactions: new Map([['t', filter]]) }).transactions).toEqual(filter);
});

it('replaces excess data filters with their addresses', () => {
  const union = new FilterMerger({ filtersMax: 3, addressesMax: 10 });
  const filters = [{ kind: 'tokenAccountState' }] as const;
  const accounts = new Map<string, AccountsFilter>([
    ['a', { account: [at(1)], filters }],
    ['b', { owner: [at(2)], filters }],
  ]);
  union.add({ accounts });
  expect([...union.request('exact').accounts!.values()]).toEqual([{ account: [at(1)] }, { owner: [at(2)] }]);
});

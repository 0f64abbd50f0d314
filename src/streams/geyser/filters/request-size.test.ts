import { describe, expect, it } from 'vitest';
import { key } from '../../../../test/streams/ledger-script.ts';
import type { CuckooFilterMessage, SubscribeRequest } from '../../../protocol/geyser/subscribe-request.ts';
import { cuckooBytes, filtersCount, pubkeysCount } from './request-size.ts';

const cuckoo: CuckooFilterMessage = {
  ...{ data: new Uint8Array(16), bucketCount: 2, entriesPerBucket: 4, fingerprintBits: 16 },
  ...{ hashSeed: 0n, hashAlgorithm: 0 },
};
const [one, two, three] = [[key(1)], [key(1), key(2)], [key(1), key(2), key(3)]];

const request: SubscribeRequest = {
  accounts: new Map([
    ['a', { account: three, owner: one, cuckooAccounts: cuckoo }],
    ['b', {}],
  ]),
  slots: new Map([['s', {}]]),
  transactions: new Map([['t', { accountInclude: one, accountExclude: two, accountRequired: three }]]),
  transactionsStatus: new Map([['u', { accountInclude: two, cuckooAccountInclude: cuckoo }]]),
  blocks: new Map([['k', { accountInclude: three, cuckooAccountInclude: cuckoo }]]),
  blocksMeta: ['m', 'n'],
  entry: ['e'],
};

describe('the size of a request', () => {
  it('counts filters of all kinds, the addresses in their lists, and the bytes of cuckoo filters', () => {
    expect([filtersCount(request), pubkeysCount(request), cuckooBytes(request)]).toEqual([9, 15, 3 * 65_536]);
  });

  it('counts the actual bytes of a large cuckoo filter', () => {
    const large = { ...cuckoo, data: new Uint8Array(100_000) };
    expect(cuckooBytes({ accounts: new Map([['a', { cuckooAccounts: large }]]) })).toBe(100_000);
  });

  it('is counted the same on the shred stage', () => {
    const deshredTransactions = new Map([['t', { accountInclude: one, accountExclude: two }]]);
    const shreds = { deshredTransactions, slots: new Map([['s', {}]]) };
    expect([filtersCount(shreds), pubkeysCount(shreds), cuckooBytes(shreds)]).toEqual([2, 3, 0]);
  });

  it('is 0 for an empty request', () => {
    expect([filtersCount({}), pubkeysCount({}), cuckooBytes({})]).toEqual([0, 0, 0]);
  });
});

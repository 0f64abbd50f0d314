import { SubscribeRequest as Published } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressFromBytes } from '../../src/ledger/address.ts';
import { signatureFromBytes } from '../../src/ledger/signature.ts';
import { slot, U64_MAX } from '../../src/ledger/units.ts';
import {
  type AccountsDataFilter,
  encodeSubscribeRequest,
  type SubscribeRequest,
  type TransactionsFilter,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { key } from './arbitrary.ts';

const u64 = fc.bigInt(0n, U64_MAX);
const addresses = fc.array(key.map(addressFromBytes), { maxLength: 3 });
const name = fc.string({ minLength: 1, maxLength: 5 }).filter((text) => text !== '__proto__');
const named = <T>(value: fc.Arbitrary<T>) =>
  fc
    .dictionary(name, value, { maxKeys: 3, noNullPrototype: true })
    .map((table) => new Map(Object.entries(table)));

const dataFilter: fc.Arbitrary<AccountsDataFilter> = fc.oneof(
  fc.record({ kind: fc.constant('memcmp' as const), offset: u64, bytes: fc.uint8Array({ maxLength: 9 }) }),
  fc.record({ kind: fc.constant('dataSize' as const), bytes: u64 }),
  fc.record({ kind: fc.constant('tokenAccountState' as const) }),
);
const transactions = fc.record(
  {
    vote: fc.boolean(),
    failed: fc.boolean(),
    signature: fc.uint8Array({ minLength: 64, maxLength: 64 }).map(signatureFromBytes),
    accountInclude: addresses,
    accountExclude: addresses,
    accountRequired: addresses,
    tokenAccounts: fc.constantFrom('all' as const, 'balanceChanged' as const),
  },
  { requiredKeys: [] },
);
const request: fc.Arbitrary<SubscribeRequest> = fc.record(
  {
    accounts: named(
      fc.record(
        { account: addresses, owner: addresses, filters: fc.array(dataFilter, { maxLength: 3 }) },
        { requiredKeys: [] },
      ),
    ),
    slots: named(
      fc.record({ filterByCommitment: fc.boolean(), interslotUpdates: fc.boolean() }, { requiredKeys: [] }),
    ),
    transactions: named(transactions),
    transactionsStatus: named(transactions),
    blocks: named(
      fc.record(
        {
          accountInclude: addresses,
          includeTransactions: fc.boolean(),
          includeAccounts: fc.boolean(),
          includeEntries: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
    ),
    blocksMeta: fc.uniqueArray(name, { maxLength: 3 }),
    entry: fc.uniqueArray(name, { maxLength: 3 }),
    commitment: fc.constantFrom('processed', 'confirmed', 'finalized'),
    fromSlot: u64.map(slot),
    ping: fc.nat(),
  },
  { requiredKeys: [] },
);

const values = <T, R>(map: ReadonlyMap<string, T> | undefined, show: (value: T) => R) =>
  Object.fromEntries([...(map ?? [])].map(([at, value]) => [at, show(value)]));

const shownDataFilter = (filter: AccountsDataFilter) => ({
  memcmp:
    filter.kind === 'memcmp'
      ? { offset: String(filter.offset), bytes: filter.bytes, base58: undefined, base64: undefined }
      : undefined,
  datasize: filter.kind === 'dataSize' ? String(filter.bytes) : undefined,
  tokenAccountState: filter.kind === 'tokenAccountState' ? true : undefined,
  lamports: undefined,
});

const shownTransactions = (filter: TransactionsFilter) => ({
  vote: filter.vote,
  failed: filter.failed,
  signature: filter.signature,
  accountInclude: filter.accountInclude ?? [],
  accountExclude: filter.accountExclude ?? [],
  accountRequired: filter.accountRequired ?? [],
});

/** What the published codec should make of a request. */
const shown = (asked: SubscribeRequest) => ({
  accounts: values(asked.accounts, ({ account, owner, filters }) => ({
    account: account ?? [],
    owner: owner ?? [],
    filters: (filters ?? []).map(shownDataFilter),
  })),
  slots: values(asked.slots, (filter) => filter),
  transactions: values(asked.transactions, shownTransactions),
  transactionsStatus: values(asked.transactionsStatus, shownTransactions),
  blocks: values(asked.blocks, (filter) => ({ ...filter, accountInclude: filter.accountInclude ?? [] })),
  blocksMeta: Object.fromEntries((asked.blocksMeta ?? []).map((each) => [each, {}])),
  entry: Object.fromEntries((asked.entry ?? []).map((each) => [each, {}])),
  commitment:
    asked.commitment === undefined
      ? undefined
      : ['processed', 'confirmed', 'finalized'].indexOf(asked.commitment),
  fromSlot: asked.fromSlot === undefined ? undefined : String(asked.fromSlot),
  ping: asked.ping === undefined ? undefined : { id: asked.ping },
});

describe('a request of a Geyser stream', () => {
  it('is read by the published codec as it was meant', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const read = Published.decode(encodeSubscribeRequest(asked));
        expect(JSON.parse(JSON.stringify(read))).toMatchObject(JSON.parse(JSON.stringify(shown(asked))));
        for (const part of ['accounts', 'slots', 'transactions', 'blocks', 'blocksMeta', 'entry'] as const) {
          expect(Object.keys(read[part])).toEqual(Object.keys(shown(asked)[part]));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('asks for token accounts with field 30, which is newer than the published codec', () => {
    const wire = encodeSubscribeRequest({
      transactions: new Map([['a', { tokenAccounts: 'balanceChanged' as const }]]),
    });
    expect(Buffer.from(wire).toString('hex')).toBe('1a080a016112' + '03f00101');
  });

  it('is nothing at all when it asks for nothing', () => {
    expect(encodeSubscribeRequest({})).toHaveLength(0);
  });
});

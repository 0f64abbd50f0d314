import fc from 'fast-check';
import type {
  AccountsDataFilter,
  SubscribeDeshredRequest,
  SubscribeRequest,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import { signatureFromBytes } from '../../src/solana/signature.ts';
import { lamports, slot, U64_MAX } from '../../src/solana/units.ts';
import { key } from './arbitrary.ts';

/** Random requests. */

const u64 = fc.bigInt(0n, U64_MAX);
const u32 = fc.nat(0xffff_ffff);
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
  fc.record({
    kind: fc.constant('lamports' as const),
    compare: fc.constantFrom('eq' as const, 'ne' as const, 'lt' as const, 'gt' as const),
    value: u64.map(lamports),
  }),
);
const cuckoo = fc.record({
  data: fc.uint8Array({ maxLength: 9 }),
  bucketCount: u32,
  entriesPerBucket: u32,
  fingerprintBits: u32,
  hashSeed: u64,
  hashAlgorithm: fc.integer(),
});
const transactions = fc.record(
  {
    vote: fc.boolean(),
    failed: fc.boolean(),
    signature: fc.uint8Array({ minLength: 64, maxLength: 64 }).map(signatureFromBytes),
    accountInclude: addresses,
    accountExclude: addresses,
    accountRequired: addresses,
    tokenAccounts: fc.constantFrom('all' as const, 'balanceChanged' as const),
    cuckooAccountInclude: cuckoo,
  },
  { requiredKeys: [] },
);
export const request: fc.Arbitrary<SubscribeRequest> = fc.record(
  {
    accounts: named(
      fc.record(
        {
          account: addresses,
          owner: addresses,
          filters: fc.array(dataFilter, { maxLength: 3 }),
          nonemptyTxnSignature: fc.boolean(),
          cuckooAccounts: cuckoo,
        },
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
          cuckooAccountInclude: cuckoo,
        },
        { requiredKeys: [] },
      ),
    ),
    blocksMeta: fc.uniqueArray(name, { maxLength: 3 }),
    entry: fc.uniqueArray(name, { maxLength: 3 }),
    commitment: fc.constantFrom('processed', 'confirmed', 'finalized'),
    accountsDataSlice: fc.array(fc.record({ offset: u64, length: u64 }), { maxLength: 3 }),
    fromSlot: u64.map(slot),
    ping: fc.integer(),
  },
  { requiredKeys: [] },
);

const deshredTransactions = fc.record(
  { vote: fc.boolean(), accountInclude: addresses, accountExclude: addresses, accountRequired: addresses },
  { requiredKeys: [] },
);

export const deshredRequest: fc.Arbitrary<SubscribeDeshredRequest> = fc.record(
  {
    deshredTransactions: named(deshredTransactions),
    slots: named(
      fc.record({ filterByCommitment: fc.boolean(), interslotUpdates: fc.boolean() }, { requiredKeys: [] }),
    ),
    ping: fc.integer(),
  },
  { requiredKeys: [] },
);

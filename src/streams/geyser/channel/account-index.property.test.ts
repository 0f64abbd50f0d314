import fc from 'fast-check';
import { expect, it } from 'vitest';
import { key } from '../../../../test/streams/ledger-script.ts';
import { type AccountFields, accountUpdate, RecordingSink } from '../../../../test/streams/random-updates.ts';
import { CuckooFilter } from '../../../protocol/geyser/cuckoo-filter.ts';
import type {
  AccountsDataFilter,
  AccountsFilter,
  CuckooFilterMessage,
} from '../../../protocol/geyser/subscribe-request.ts';
import { addressBytes } from '../../../solana/address.ts';
import { lamports } from '../../../solana/units.ts';
import { Channel, type Member } from '../channel.ts';
import { compileFilters, type Filters } from '../filters/compile.ts';

/** A cuckoo filter that contains the address of this number. */
function cuckooOf(number: number): CuckooFilterMessage {
  const message = {
    bucketCount: 1,
    entriesPerBucket: 4,
    fingerprintBits: 16,
    hashSeed: 5n,
    hashAlgorithm: 0,
    data: new Uint8Array(8),
  };
  const { fingerprint } = new CuckooFilter(message).locate(addressBytes(key(number)), 0);
  new DataView(message.data.buffer).setUint16(0, fingerprint, true);
  return message;
}

/** Short data of bytes 0 and 1, so that filters match updates. */
const DATA_MAX = 7;
const number = fc.integer({ min: 1, max: 4 });
const cuckoos = [1, 2, 3, 4].map(cuckooOf);

const memcmp: fc.Arbitrary<AccountsDataFilter> = fc.record({
  kind: fc.constant('memcmp' as const),
  offset: fc.oneof({ weight: 12, arbitrary: fc.bigInt(0n, 5n) }, fc.constant(2n ** 64n - 1n)),
  bytes: fc.uint8Array({ maxLength: 5, max: 1 }),
});
const dataSize: fc.Arbitrary<AccountsDataFilter> = fc.record({
  kind: fc.constant('dataSize' as const),
  bytes: fc.bigInt(0n, BigInt(DATA_MAX)),
});
const balance: fc.Arbitrary<AccountsDataFilter> = fc.record({
  kind: fc.constant('lamports' as const),
  compare: fc.constantFrom('eq', 'eq', 'ne', 'lt', 'gt'),
  value: fc.bigInt(0n, 2n).map(lamports),
});
const tokenAccount = fc.constant<AccountsDataFilter>({ kind: 'tokenAccountState' });

/** The plugin accepts only one size. */
const dataFilters = fc.uniqueArray(
  fc.oneof({ weight: 6, arbitrary: memcmp }, { weight: 3, arbitrary: dataSize }, balance, tokenAccount),
  { maxLength: 4, comparator: (left, right) => left.kind === 'dataSize' && right.kind === 'dataSize' },
);

const keys = fc.uniqueArray(number.map(key), { maxLength: 3 });

const filter: fc.Arbitrary<AccountsFilter> = fc
  .record({
    account: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, keys),
    owner: fc.option(keys, { nil: undefined, freq: 3 }),
    filters: dataFilters,
    nonemptyTxnSignature: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.boolean()),
    cuckooAccounts: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, fc.constantFrom(...cuckoos)),
  })
  .map(
    (drawn) =>
      Object.fromEntries(Object.entries(drawn).filter(([, value]) => value !== undefined)) as AccountsFilter,
  );

const filters: fc.Arbitrary<Filters> = fc
  .array(filter, { maxLength: 30 })
  .map((list) => compileFilters({ accounts: new Map(list.map((each, i) => [`f${i}`, each])) }));

const account: fc.Arbitrary<AccountFields> = fc.record({
  address: number,
  owner: number,
  lamports: fc.bigInt(0n, 2n),
  data: fc.uint8Array({ maxLength: DATA_MAX, max: 1 }),
  isByTransaction: fc.boolean(),
});

type Stream = { member: Member; sink: RecordingSink; requested: Filters };

/** The names that a linear scan of all filters finds, in order. */
function linearScan({ accounts }: Filters, update: ReturnType<typeof accountUpdate>): string[][] {
  const names = accounts.filter((rule) => rule.passes(update)).map(({ name }) => name);
  return names.length === 0 ? [] : [names];
}

it('an index of changing account filters finds the same as a linear scan, in order', () => {
  const seen = { updates: 0, matches: 0, together: 0 };
  const turn = fc.record({
    who: fc.nat(2),
    requested: filters,
    updates: fc.array(account, { maxLength: 20 }),
  });
  fc.assert(
    fc.property(fc.array(turn, { minLength: 3, maxLength: 8 }), (turns) => {
      const channel = new Channel();
      const streams: Stream[] = [];
      for (const { who, requested, updates } of turns) {
        const stream = streams[who];
        if (stream === undefined) {
          const sink = new RecordingSink();
          streams.push({ sink, requested, member: channel.add(sink) });
        } else stream.requested = requested;
        (stream ?? (streams.at(-1) as Stream)).member.replace(requested);
        for (const update of updates.map(accountUpdate)) {
          channel.emit(update);
          for (const each of streams) {
            const expected = linearScan(each.requested, update);
            expect(each.sink.take()).toEqual(expected);
            seen.updates += 1;
            seen.matches += expected.length;
            if ((expected[0]?.length ?? 0) > 1) seen.together += 1;
          }
        }
      }
    }),
    { numRuns: 200 },
  );
  expect(seen.updates).toBeGreaterThan(6_000);
  expect(seen.matches).toBeGreaterThan(1500);
  expect(seen.together).toBeGreaterThan(300);
});

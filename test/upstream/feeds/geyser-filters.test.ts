import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Subscription } from '../../../src/protocol/subscriptions.ts';
import { addressFromBytes } from '../../../src/solana/address.ts';
import { signatureFromBytes } from '../../../src/solana/signature.ts';
import { RequestedFilters } from '../../../src/upstream/feeds/geyser/requested-filters.ts';
import { FilterMerger } from '../../../src/upstream/geyser/merge-filters.ts';
import { logs, watch } from './geyser-rig.ts';

const limits = { filtersMax: 100, addressesMax: 1_000 };

/** @param max - number of filters and addresses that servers accept. */
const requestedFilters = (max: Partial<typeof limits> = {}) => {
  const merger = new FilterMerger({ ...limits, ...max });
  return new RequestedFilters({ programFiltersMax: 3, fits: (size) => merger.fits(size) });
};

const key = (number: number) => {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32LE(number);
  return addressFromBytes(bytes);
};
const program = (number: number, size: bigint | null): Subscription => ({
  kind: 'program',
  program: key(number),
  commitment: 'confirmed',
  encoding: 'base64',
  filters: size === null ? [] : [{ kind: 'dataSize', size }],
});
const signature = (number: number): Subscription => ({
  kind: 'signature',
  signature: signatureFromBytes(Buffer.alloc(64, number)),
  commitment: 'processed',
  received: false,
});

/** The filters of the merged request, regardless of their names and order. */
function requestOf(union: RequestedFilters) {
  const { accounts, transactions } = union.request();
  const all = [...(accounts?.values() ?? []), ...(transactions?.values() ?? [])];
  return all
    .map((filter) =>
      JSON.stringify(filter, (_, value) =>
        typeof value === 'bigint'
          ? String(value)
          : Array.isArray(value) && value.every((each) => typeof each === 'string')
            ? value.sort()
            : value,
      ),
    )
    .sort();
}

const any: fc.Arbitrary<Subscription> = fc.oneof(
  fc.integer({ min: 0, max: 5 }).map((number) => watch(key(number))),
  fc
    .tuple(fc.integer({ min: 0, max: 2 }), fc.option(fc.bigInt({ min: 0n, max: 5n })))
    .map(([number, size]) => program(number, size)),
  fc.constantFrom(logs('all'), logs('allWithVotes'), logs({ mentions: key(1) }), logs({ mentions: key(2) })),
  fc.integer({ min: 0, max: 5 }).map(signature),
  fc.constantFrom<Subscription>({ kind: 'slot' }, { kind: 'root' }),
);

describe('RequestedFilters', () => {
  it('always equal the union of the current subscriptions', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(any, fc.boolean()), { maxLength: 40 }), (course) => {
        const union = requestedFilters();
        const ends: (() => void)[] = [];
        for (const [subscription, stays] of course) {
          const end = union.add(subscription)!;
          union.request();
          if (!stays) ends.push(end);
        }
        for (const end of [...ends, ...ends]) end();
        const fresh = requestedFilters();
        for (const [subscription, stays] of course) if (stays) fresh.add(subscription);
        expect(requestOf(union)).toEqual(requestOf(fresh));
      }),
    );
  });

  it('stay within the limits when the unfiltered subscription of a program ends', () => {
    const union = requestedFilters({ filtersMax: 4 });
    const whole = union.add(program(1, null))!;
    const ends = [1n, 2n].map((size) => union.add(program(1, size)));
    expect(ends).not.toContain(null);
    expect(union.add(signature(1))).toBeNull();
    whole();
    expect(requestOf(union)).toHaveLength(2);
    expect(union.add(signature(1))).not.toBeNull();
  });
});

import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { key } from '../../../../test/streams/ledger-script.ts';
import { AddressSet } from './address-set.ts';
import { AddressTable } from './address-table.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Addresses that differ in few bits, some in none of the first four bytes. */
const addresses = Array.from({ length: 60 }, (_, n) => {
  const bytes = new Uint8Array(32).fill(7);
  bytes[n % 2 === 0 ? 0 : 31] = n;
  bytes[n % 3 === 0 ? 1 : 16] = n >> 2;
  return bytes;
});

describe('a table of addresses', () => {
  it('behaves like a Map keyed by hex', () => {
    const step = fc.record({ n: fc.nat(addresses.length - 1), value: fc.option(fc.nat(9), { nil: null }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const [table, map] = [new AddressTable<number>(), new Map<string, number>()];
        for (const { n, value } of steps) {
          const bytes = addresses[n] as Uint8Array;
          if (value === null) expect(table.delete(bytes, 0)).toBe(map.delete(hex(bytes)));
          else {
            table.set(bytes, 0, value);
            map.set(hex(bytes), value);
          }
          expect(table.size).toBe(map.size);
        }
        for (const bytes of addresses) expect(table.get(bytes, 0)).toBe(map.get(hex(bytes)));
      }),
    );
  });

  it('finds an address at any offset, and never matches a partial one', () => {
    const table = new AddressTable<string>();
    const address = randomBytes(32);
    table.set(Buffer.concat([Buffer.alloc(5), address]), 5, 'it');
    const message = Buffer.concat([Buffer.alloc(3), address, Buffer.alloc(40)]);
    expect(table.get(message, 3)).toBe('it');
    expect([2, 4].map((at) => table.get(message, at))).toEqual([undefined, undefined]);
  });

  it('keeps its entries while it grows, changes and shrinks', () => {
    const table = new AddressTable<number>();
    const all = Array.from({ length: 5000 }, () => randomBytes(32));
    all.forEach((bytes, n) => {
      table.set(bytes, 0, n);
    });
    expect(all.every((bytes, n) => table.get(bytes, 0) === n)).toBe(true);
    const [removed, remaining] = [all.slice(20), all.slice(0, 20)];
    expect(removed.every((bytes) => table.delete(bytes, 0))).toBe(true);
    expect(removed.some((bytes) => table.has(bytes, 0))).toBe(false);
    expect(remaining.every((bytes, n) => table.get(bytes, 0) === n)).toBe(true);
    let deleted = 0;
    for (let i = 0; i < 20_000; i++) {
      const bytes = randomBytes(32);
      table.set(bytes, 0, i);
      if (table.delete(bytes, 0)) deleted += 1;
    }
    expect([deleted, table.size]).toEqual([20_000, 20]);
  });
});

it.each([1, 4, 5, 40])('a set of %i addresses contains exactly its addresses', (count) => {
  const list = Array.from({ length: count }, (_, n) => key(n));
  const set = new AddressSet([...list, ...list]);
  const has = (n: number) => set.has(new Uint8Array(32).fill(n), 0);
  expect(set.addresses).toHaveLength(count);
  expect(Array.from({ length: 60 }, (_, n) => has(n))).toEqual(
    Array.from({ length: 60 }, (_, n) => n < count),
  );
});

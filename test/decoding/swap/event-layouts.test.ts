import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventTables } from '../../../src/decoding/transaction/events/event-tables.ts';
import {
  type EventLayout,
  eventDiscriminator,
  type Fields,
  type FieldType,
  readLayout,
} from '../../../src/decoding/transaction/events/layout.ts';
import { rayLogLayouts } from '../../../src/decoding/transaction/events/read-events.ts';
import { addressFromBytes } from '../../../src/solana/address.ts';
import { encodeLayout } from './encode-layout.ts';

const layouts: readonly EventLayout[] = [
  ...[...eventTables.values()].flatMap((table) => [...table.values()]),
  ...rayLogLayouts,
];

const plain: Record<Extract<FieldType, string>, fc.Arbitrary<unknown>> = {
  u8: fc.nat(0xff),
  u16: fc.nat(0xffff),
  u32: fc.nat(0xffff_ffff),
  i32: fc.integer(),
  u64: fc.bigInt(0n, 2n ** 64n - 1n),
  i64: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  u128: fc.bigInt(0n, 2n ** 128n - 1n),
  i128: fc.bigInt(-(2n ** 127n), 2n ** 127n - 1n),
  bool: fc.boolean(),
  pubkey: fc.uint8Array({ minLength: 32, maxLength: 32 }).map(addressFromBytes),
  string: fc.string({ unit: 'grapheme', maxLength: 20 }),
};

function anyOf(type: FieldType): fc.Arbitrary<unknown> {
  if (typeof type === 'string') return plain[type];
  if ('struct' in type) return membersOf(type.struct);
  if ('list' in type) return fc.array(membersOf(type.list), { maxLength: 4 });
  return fc.array(anyOf(type.array), { minLength: type.length, maxLength: type.length });
}

const membersOf = (fields: Fields): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(...fields.map(([name, type]) => anyOf(type).map((value) => [name, value] as const)))
    .map(Object.fromEntries);

describe('event layouts', () => {
  it('cover the required programs with known discriminators', () => {
    expect(layouts.length).toBeGreaterThan(50);
    expect(eventDiscriminator('SwapEvent')).toBe('40c6cde8260871e2');
    expect(eventDiscriminator('SwapsEvent')).toBe('982f4eebc0606e6a');
    expect(eventDiscriminator('TradeEvent')).toBe('bddb7fd34ee661ee');
    expect(eventDiscriminator('BuyEvent')).toBe('67f4521f2cf57777');
    expect(eventDiscriminator('Traded')).toBe('e1ca49af932ba096');
    expect(eventDiscriminator('Swap')).toBe('516ce3becdd00ac4');
  });

  it.each(layouts.map((layout) => [layout.name, layout] as const))(
    '%s: decodes encoded members, with any number of optional ones',
    (_, layout) => {
      const members = membersOf([...layout.fields, ...layout.later]);
      fc.assert(
        fc.property(members, fc.nat(layout.later.length), (all, later) => {
          const names = [...layout.fields, ...layout.later.slice(0, later)].map(([name]) => name);
          const given = Object.fromEntries(names.map((name) => [name, all[name]]));
          const read = readLayout(encodeLayout(layout, given), layout);
          expect(read).toEqual(given);
          expect(Object.keys(read ?? {})).toEqual(names);
        }),
        { numRuns: 20 },
      );
    },
  );

  it.each(layouts.map((layout) => [layout.name, layout] as const))(
    '%s: rejects a partial member and ignores extra bytes',
    (_, layout) => {
      const [all] = fc.sample(membersOf([...layout.fields, ...layout.later]), { numRuns: 1, seed: 7 });
      const whole = encodeLayout(layout, all ?? {});
      const least = encodeLayout({ ...layout, later: [] }, all ?? {}).length;
      for (let length = 0; length < least; length++) {
        expect(readLayout(whole.subarray(0, length), layout)).toBeNull();
      }
      expect(readLayout(Buffer.concat([whole, Buffer.alloc(9)]), layout)).toEqual(all);
      for (let length = least; length < whole.length; length++) {
        const read = readLayout(whole.subarray(0, length), layout);
        if (read !== null) expect(encodeLayout(layout, read)).toEqual(whole.subarray(0, length));
      }
    },
  );

  it('reject invalid booleans and invalid UTF-8', () => {
    const layout: EventLayout = {
      name: 'It',
      fields: [
        ['text', 'string'],
        ['flag', 'bool'],
      ],
      later: [],
    };
    expect(readLayout(Uint8Array.of(1, 0, 0, 0, 0x61, 1), layout)).toEqual({ text: 'a', flag: true });
    expect(readLayout(Uint8Array.of(1, 0, 0, 0, 0x61, 2), layout)).toBeNull();
    expect(readLayout(Uint8Array.of(1, 0, 0, 0, 0xff, 1), layout)).toBeNull();
  });

  it('reject a list longer than the data', () => {
    const layout: EventLayout = { name: 'It', fields: [['all', { list: [['one', 'u8']] }]], later: [] };
    expect(readLayout(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 1, 2), layout)).toBeNull();
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import { attributesFilter, matchesAttributes, nftFilterLimits, royaltyFilter } from './nft-filters.ts';

const royalty = royaltyFilter();
const attributes = attributesFilter();

const messageOf = (field: typeof royalty | typeof attributes, input: unknown): string =>
  field.safeParse(input).error?.issues[0]?.message ?? 'taken';
const isRoyalty = (filter: unknown, percent: number): boolean => royalty.parse(filter)!(percent);
const has = (filter: unknown, values: { [trait: string]: JsonValue }): boolean =>
  matchesAttributes(values, attributes.parse(typeof filter === 'string' ? filter : JSON.stringify(filter))!);

describe('royalty filter', () => {
  it.each([
    ['5', 5, true],
    ['5', 5.5, false],
    ['{"gte":5,"lte":10}', 5, true],
    ['{"gte":5,"lte":10}', 10, true],
    ['{"gte":5,"lte":10}', 10.01, false],
    ['{"gt":5}', 5, false],
    ['{"lt":"5"}', 4.99, true],
    ['{"lt":5}', 5, false],
    [7, 7, true],
  ])('%j matches %d %%: %j', (filter, percent, holds) => {
    expect(isRoyalty(filter, percent)).toBe(holds);
  });

  it.each([undefined, ''])('is absent for %j', (input) => {
    expect(royalty.parse(input)).toBeNull();
  });

  const COMPARES = 'must use gt, gte, lt or lte, each with a number';
  it.each([
    ['{"gte":5', 'must be JSON such as {"gte":5,"lte":10}'],
    ['{"near":5}', COMPARES],
    ['{"gte":"1e999"}', COMPARES],
    ['{}', COMPARES],
    ['1e999', 'must be a number, or JSON such as {"gte":5,"lte":10}'],
    [`"${'5'.repeat(nftFilterLimits.lengthMax)}"`, 'must have at most 4096 characters'],
  ])('rejects %j with a message', (filter, message) => {
    expect(messageOf(royalty, filter)).toBe(message);
  });
});

describe('attributes filter', () => {
  it.each<[object, { [trait: string]: JsonValue }, boolean]>([
    [{ energy: '10' }, { energy: '10' }, true],
    [{ energy: '10' }, { energy: 10 }, true],
    [{ energy: 10 }, { energy: '10' }, true],
    [{ energy: '10' }, { energy: '10.0' }, false],
    [{ edification: { gt: '10' }, energy: '10' }, { edification: '11', energy: '10' }, true],
    [{ edification: { gt: '10' }, energy: '10' }, { edification: '11', energy: '9' }, false],
    // Compared as numbers, not as text.
    [{ level: { gt: '9' } }, { level: '10' }, true],
    [{ level: { gte: 9, lt: 10 } }, { level: 9.5 }, true],
    [{ level: { lte: '1e2' } }, { level: ' 100 ' }, true],
    [{ level: { gte: '0' } }, { level: 'high' }, false],
    [{ level: { gte: '0' } }, { level: null }, false],
    [{ level: { lt: 1 } }, { level: '0x0' }, false],
    [{ toString: 'x' }, {}, false],
    [{}, { any: 'thing' }, true],
  ])('%j matches %j: %j', (filter, values, holds) => {
    expect(has(filter, values)).toBe(holds);
  });

  it('compares numbers of any size', () => {
    expect(has({ level: { gte: '12345678901234500000' } }, { level: 12345678901234567890n })).toBe(true);
    expect(has({ level: '12345678901234567890' }, { level: 12345678901234567890n })).toBe(true);
  });

  it('accepts any trait name', () => {
    const values = JSON.parse('{"__proto__":"7"}');
    expect(has('{"__proto__":{"gte":"7"}}', values)).toBe(true);
    expect(has('{"__proto__":{"gte":"8"}}', values)).toBe(false);
    expect(has('{"__proto__":{"gte":"7"}}', {})).toBe(false);
  });

  it.each([
    ['{energy:10}', 'must be JSON such as {"energy":{"gte":"100"},"background":"red"}'],
    ['[]', 'must be a JSON object such as {"energy":{"gte":"100"}}'],
    ['{"energy":{"$where":"1"}}', 'must use gt, gte, lt or lte, each with a number'],
    [
      JSON.stringify(Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, '1']))),
      'must have at most 20 traits',
    ],
  ])('rejects %s with a message', (filter, message) => {
    expect(messageOf(attributes, filter)).toBe(message);
  });

  it('accepts or rejects arbitrary input', () => {
    const names = fc.constantFrom('gt', 'gte', 'lt', 'lte', 'energy', '__proto__', 'toString');
    const json = fc.object({ key: names, maxDepth: 3 }).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), json), fc.object({ key: names }), (filter, values) => {
        const tests = attributes.safeParse(filter).data ?? new Map();
        expect(typeof matchesAttributes(values as { [trait: string]: JsonValue }, tests)).toBe('boolean');
        const test = royalty.safeParse(filter).data;
        if (test) expect(typeof test(5)).toBe('boolean');
      }),
    );
  });
});

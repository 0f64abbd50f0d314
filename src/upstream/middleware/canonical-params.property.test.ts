import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf } from '../../../test/upstream/mock/scripted-dispatcher.ts';
import { CallKeys } from './call-key.ts';

/** JSON text with random member order, white space and escapes. */
function written(value: unknown, random: () => number): string {
  const space = (): string => [' ', '\n', '\t', '', '', ''][Math.floor(random() * 6)]!;
  if (typeof value === 'string') {
    const escaped = (character: string): string =>
      random() < 0.3
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
        : JSON.stringify(character).slice(1, -1);
    // Lone surrogates are always escaped.
    return `"${Array.from({ length: value.length }, (_, i) => {
      const unit = value.charAt(i);
      return /[\ud800-\udfff]/.test(unit) ? `\\u${unit.charCodeAt(0).toString(16)}` : escaped(unit);
    }).join('')}"`;
  }
  if (Array.isArray(value)) {
    return `[${value.map((one) => `${space()}${written(one, random)}${space()}`).join(',')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .map((member) => ({ member, place: random() }))
      .sort((a, b) => a.place - b.place)
      .map(({ member: [name, of] }) => `${space()}${written(name, random)}${space()}:${written(of, random)}`);
    return `{${members.join(',')}${space()}}`;
  }
  return JSON.stringify(value);
}

const name = fc.string({ unit: 'binary', maxLength: 6 }).filter((text) => text !== '__proto__');
const scalar = fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string({ unit: 'binary' }));
const inner = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(name, fc.oneof(scalar, fc.array(scalar, { maxLength: 2 })), { maxKeys: 4 }),
);
/** More params than any options object has before it, so that no default is omitted. */
const params = fc.array(inner, { maxLength: 5 });

const keys = new CallKeys();
const keyOf = (text: string): string =>
  keys.keyOf({ ...callOf('getSignatureStatuses'), params: Buffer.from(text) })!.text;

/** Equality regardless of member order. */
const sameJson = (a: unknown, b: unknown): boolean => {
  const sorted = (_: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
      : value;
  return JSON.stringify(a, sorted) === JSON.stringify(b, sorted) && Array.isArray(a) === Array.isArray(b);
};

describe('call key', () => {
  it('is the same for equal params in any notation', () => {
    fc.assert(
      fc.property(
        params,
        fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
        (value, chance) => {
          const random = (): number => chance.next().value;
          expect(keyOf(written(value, random))).toBe(keyOf(JSON.stringify(value)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('differs for different params', () => {
    fc.assert(
      fc.property(params, params, (one, other) => {
        fc.pre(!sameJson(one, other));
        expect(keyOf(JSON.stringify(one))).not.toBe(keyOf(JSON.stringify(other)));
      }),
      { numRuns: 500 },
    );
  });
});

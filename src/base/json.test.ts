import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from './json.ts';

const number = (text: string): JsonValue => parseJson(text);

describe('parseJson', () => {
  it.each([
    ['18446744073709551615', 18_446_744_073_709_551_615n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
    [' 9007199254740993', 9_007_199_254_740_993n],
    ['9007199254740991', 9_007_199_254_740_991],
    ['1e16', 1e16],
    ['0.12345678901234567890', 0.12345678901234568],
  ])('parses %s exactly', (text, value) => {
    expect(number(text)).toBe(value);
  });

  it('parses integers up to 40 characters exactly', () => {
    expect(parseJson('9'.repeat(40))).toBe(BigInt('9'.repeat(40)));
    expect(parseJson('9'.repeat(41))).toBe(Number('9'.repeat(41)));
    expect(parseJson(`[-${'9'.repeat(1_000_000)}]`)).toEqual([Number.NEGATIVE_INFINITY]);
  });

  it('returns the same as with a reviver', () => {
    const exact = (_name: string, value: unknown, context?: { source?: string }): unknown => {
      const source = context?.source ?? '';
      if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
      return source.length <= 40 && /^-?\d+$/.test(source) ? BigInt(source) : value;
    };
    const digits = fc.bigInt({ min: -(10n ** 42n), max: 10n ** 42n }).map(String);
    const scalar = fc.oneof(
      digits,
      digits.map((text) => `${text}.5`),
      digits.map((text) => `${text}e2`),
      digits.map((text) => JSON.stringify(`: ${text}, [${text}] "${text}"`)),
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc.constantFrom(
        'null',
        'true',
        '"\\ue0f118446744073709551615"',
        '"\ue0f118446744073709551615"',
        '{}',
        '[]',
      ),
    );
    const space = fc.constantFrom('', ' ', '\n\t');
    const { text } = fc.letrec<{ text: string }>((tie) => ({
      text: fc.oneof(
        { maxDepth: 4 },
        scalar,
        fc
          .tuple(fc.array(tie('text'), { maxLength: 4 }), space)
          .map(([all, gap]) => `[${gap}${all.join(`${gap},`)}${gap}]`),
        fc
          .tuple(
            fc.array(fc.tuple(fc.oneof(fc.string(), fc.constant('__proto__')), tie('text')), {
              maxLength: 4,
            }),
            space,
          )
          .map(
            ([all, gap]) =>
              `{${all.map(([name, one]) => `${JSON.stringify(name)}${gap}:${gap}${one}`).join(',')}}`,
          ),
      ),
    }));
    fc.assert(
      fc.property(text, (one) => {
        expect(parseJson(one)).toStrictEqual(JSON.parse(one, exact));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['[012345678901234567890]', '[-01234567890123456789]'])('rejects %s', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  it('parses nesting too deep for recursion', () => {
    const text = `${'['.repeat(300_000)}18446744073709551615${']'.repeat(300_000)}`;
    let value = parseJson(text);
    while (Array.isArray(value)) value = value[0] as JsonValue;
    expect(value).toBe(18_446_744_073_709_551_615n);
  });
});

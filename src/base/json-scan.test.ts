import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeString, isJson, kindOf, MALFORMED, MemberFinder, scanArray, scanObject } from './json-scan.ts';

const DEPTH = 64;

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Members by their spans; the last duplicate wins, as in JSON.parse. */
function membersOf(text: string): Record<string, string> {
  const bytes = Buffer.from(text);
  const members: Record<string, string> = {};
  const end = scanObject(bytes, 0, DEPTH, members, (into, nameStart, nameEnd, start, valueEnd) => {
    Object.defineProperty(into, decodeString(bytes, nameStart, nameEnd), {
      value: bytes.toString('utf8', start, valueEnd),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  });
  expect(end).toBe(bytes.length);
  return members;
}

describe('JSON scanner', () => {
  it.each(['"\\u12g4"', '"\\u004g"', '"\\ug041"', '01', '1e+', '"\t"'])(
    'rejects %j like JSON.parse',
    (text) => {
      expect([parses(text), isJson(Buffer.from(text), DEPTH)]).toEqual([false, false]);
    },
  );

  it('agrees with JSON.parse on documents with one byte changed, removed or doubled', () => {
    const damage = fc.tuple(
      fc.json({ maxDepth: 4 }),
      fc.nat(),
      fc.constantFrom('change', 'remove', 'double'),
      fc.constantFrom(...'{}[]":,\\/bfnrtu0123456789.eE+- \t\n\r\u0000\u001fatruefalsn'),
    );
    fc.assert(
      fc.property(damage, ([text, seed, how, character]) => {
        const at = seed % text.length;
        const middle =
          how === 'change' ? character : how === 'double' ? text.slice(at, at + 1).repeat(2) : '';
        const damaged = text.slice(0, at) + middle + text.slice(at + 1);
        const bytes = Buffer.from(damaged);
        // A split surrogate pair is not valid UTF-8, so the bytes would contain another text.
        fc.pre(bytes.toString() === damaged && isUtf8(bytes));
        expect(isJson(bytes, DEPTH)).toBe(parses(damaged));
      }),
      { numRuns: 3_000 },
    );
  });

  it('stops at the given depth', () => {
    const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    expect(isJson(nested(DEPTH), DEPTH)).toBe(true);
    expect(isJson(nested(DEPTH + 1), DEPTH)).toBe(false);
    expect(isJson(nested(1_000_000), DEPTH)).toBe(false);
    expect(isJson(Buffer.from('{"a":'.repeat(500_000)), DEPTH)).toBe(false);
  });

  it('returns the raw bytes of every member', () => {
    expect(membersOf('{"a":18446744073709551615,"a": 9007199254740993 ,"b":"\\u0041"}')).toEqual({
      a: '9007199254740993',
      b: '"\\u0041"',
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const members = membersOf(JSON.stringify(value));
        const expected = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
        expect(Object.keys(members).sort()).toEqual(Object.keys(expected).sort());
        for (const name of Object.keys(expected)) {
          expect(JSON.parse(members[name] as string)).toEqual(expected[name]);
        }
      }),
    );
  });

  it('returns the raw bytes of every element in order', () => {
    const bytes = Buffer.from(' [ 1 , {"a":[2]} ,"x"]').subarray(1);
    const elements: string[] = [];
    const end = scanArray(bytes, 0, DEPTH, elements, (into, start, stop) => {
      into.push(bytes.toString('utf8', start, stop));
    });
    expect(end).toBe(bytes.length);
    expect(elements).toEqual(['1', '{"a":[2]}', '"x"']);
  });

  it('finds members by name, also escaped, and counts repetitions and other members', () => {
    const finder = new MemberFinder(['id', 'of']);
    const find = (text: string) => {
      const bytes = Buffer.from(text);
      const end = finder.scan(bytes, 0, DEPTH);
      const values = [0, 1].map((index) => finder.valueIn(bytes, index)?.toString() ?? null);
      return [end, values, [...finder.counts], finder.extras];
    };
    expect(find('{"i\\u0064":1,"x":{"of":2},"id":3}')).toEqual([33, ['3', null], [2, 0], 2]);
    expect(find('{"of":null}')).toEqual([11, [null, 'null'], [0, 1], 0]);
    expect(find('{}')).toEqual([2, [null, null], [0, 0], 0]);
    expect(find('{"of":}')[0]).toBe(MALFORMED);
  });

  it('returns the kind of a value by its first byte', () => {
    const kinds = ['{', '[', '"', 't', 'f', 'n', '-', '7'].map((text) => kindOf(Buffer.from(text)[0]));
    expect(kinds).toEqual(['object', 'array', 'string', 'boolean', 'boolean', 'null', 'number', 'number']);
  });
});

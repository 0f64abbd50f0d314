import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpParser, type HttpSink } from './llhttp.ts';
import {
  byteTable,
  connectionDirective,
  isToken,
  NOT_SIMPLE,
  parseSimpleHeaders,
  parseSimpleLength,
  skipWhile,
} from './simple-header-parser.ts';

/** Reported fields of a head and its end; null if it is left to llhttp. */
function parseSimple(text: string): { fields: [string, string][]; end: number } | null {
  const bytes = Buffer.from(text, 'latin1');
  const fields: [string, string][] = [];
  const end = parseSimpleHeaders(bytes, 0, bytes.length, {
    onHeader(from, nameStart, nameEnd, start, stop) {
      const name = from.toString('latin1', nameStart, nameEnd);
      fields.push([name, from.toString('latin1', start, stop)]);
      // Leaves invalid lengths to llhttp, as production code does.
      return name.toLowerCase() !== 'content-length' || parseSimpleLength(from, start, stop) >= 0;
    },
  });
  return end === NOT_SIMPLE ? null : { fields, end };
}

const STATUS_LINE = 'HTTP/1.1 200 OK\r\n';

/** The same as read by llhttp, after a valid status line. */
function parseWithLlhttp(text: string): { fields: [string, string][]; end: number } | null {
  const fields: [string, string][] = [];
  let inName = false;
  let isWhole = false;
  const sink: HttpSink = {
    onUrl: () => {},
    onField(bytes, start, end) {
      const piece = bytes.toString('latin1', start, end);
      if (inName) fields.at(-1)![0] += piece;
      else fields.push([piece, '']);
      inName = true;
    },
    onValue(bytes, start, end) {
      fields.at(-1)![1] += bytes.toString('latin1', start, end);
      inName = false;
    },
    onHead() {
      isWhole = true;
      return true;
    },
    onBody: () => {},
    onEnd: () => true,
  };
  const parser = new HttpParser('response', sink);
  const end = parser.read(Buffer.from(STATUS_LINE + text, 'latin1'));
  parser.free();
  const trimmed = fields.map(([name, value]): [string, string] => [name, value.replace(/[ \t]+$/, '')]);
  return isWhole ? { fields: trimmed, end: end - STATUS_LINE.length } : null;
}

describe('simple header parser', () => {
  it('reports names and trimmed values with their offsets', () => {
    expect(parseSimple('Content-Length: 12\r\nx-a:  b c  \r\nempty:\r\n\r\nbody')).toEqual({
      fields: [
        ['Content-Length', '12'],
        ['x-a', 'b c'],
        ['empty', ''],
      ],
      end: 43,
    });
    expect(parseSimple('\r\n')).toEqual({ fields: [], end: 2 });
  });

  it.each([
    ['that is incomplete', 'a: b\r\n'],
    ['with a blank before a colon', 'a : b\r\n\r\n'],
    ['with a field without a name', ': b\r\n\r\n'],
    ['with line feeds alone', 'a: b\n\n'],
    ['with a NUL', 'a: b\0\r\n\r\n'],
    ['with letters beyond ASCII', 'a: \xe9\r\n\r\n'],
  ])('leaves a head %s to llhttp', (_what, text) => {
    expect(parseSimple(text)).toBeNull();
  });

  const odd = fc.constantFrom(...'\r\n \t:\0\x7f\xe9"(');
  const usual = ['a', 'Content', '-', 'Length', 'Connection', '12', 'close', 'b c', '~', ': ', ':', '\r\n'];
  const part = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: odd });

  it('reports the same headers as llhttp', () => {
    let read = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 24 }), (parts) => {
        const text = `${parts.join('')}\r\n\r\n`;
        const found = parseSimple(text);
        if (found === null) return;
        read++;
        expect(found).toEqual(parseWithLlhttp(text));
      }),
      { numRuns: 20_000 },
    );
    expect(read).toBeGreaterThan(500);
  });
});

describe('header values', () => {
  it('report the connection directive if it is simple', () => {
    const readOf = (field: string) => {
      const [name = '', value = ''] = field.split(': ');
      const bytes = Buffer.from(field);
      return connectionDirective(bytes, 0, name.length, bytes.length - value.length, bytes.length);
    };
    const fields = ['Connection: Close', 'connection: KEEP-ALIVE', 'connection: close, x', 'connection: '];
    expect(fields.map(readOf)).toEqual(['close', 'keep-alive', 'unsupported', 'unsupported']);
    expect(['Proxy-Connection: close', 'connections: close'].map(readOf)).toEqual(['unsupported', 'other']);
  });

  it('report a length of digits only', () => {
    const of = (text: string) => parseSimpleLength(Buffer.from(text), 0, text.length);
    expect(['0', '17', '007', '999999999'].map(of)).toEqual([0, 17, 7, 999_999_999]);
    expect(['', '1000000000', '-1', '+1', '1 ', '0x1', '1,1'].map(of)).toEqual(Array(7).fill(-1));
  });
});

describe('byte ranges of a head', () => {
  it('match a token ignoring case', () => {
    const word = Buffer.from('keep-alive');
    const is = (text: string) => isToken(Buffer.from(text), 0, text.length, word);
    expect(['Keep-Alive', 'keep-alive', 'KEEP-ALIVE'].map(is)).toEqual([true, true, true]);
    expect(['keep-alive,', 'keep_alive', 'keep alive', 'close', ''].map(is)).toEqual(Array(5).fill(false));
  });

  it('are skipped while in a table', () => {
    const digits = byteTable((text) => /\d/.test(text));
    const bytes = Buffer.from('a123b');
    expect([
      skipWhile(bytes, 1, 5, digits),
      skipWhile(bytes, 1, 3, digits),
      skipWhile(bytes, 0, 5, digits),
    ]).toEqual([4, 3, 0]);
  });
});

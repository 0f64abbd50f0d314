import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpParser, type HttpSink } from './llhttp.ts';
import {
  byteTable,
  headerSpan,
  isToken,
  NOT_SIMPLE,
  SimpleHeaderParser,
  skipWhile,
} from './simple-header-parser.ts';

type Head = { fields: [string, string][]; contentLength: number; keepAlive: boolean; end: number };

const spans = { a: headerSpan(), content: headerSpan(), length: headerSpan(), 'x-a': headerSpan() };
const parser = new SimpleHeaderParser({ ...spans, upgrade: null });
const names = new Set([...Object.keys(spans), 'content-length', 'connection']);

/** null if the head is left to llhttp. */
function parseSimple(text: string): Head | null {
  const bytes = Buffer.from(text, 'latin1');
  const end = parser.parse(bytes, 0, bytes.length);
  if (end === NOT_SIMPLE) return null;
  const fields = Object.entries(spans)
    .filter(([, { isPresent }]) => isPresent)
    .map(([name, { start, end: stop }]): [string, string] => [name, bytes.toString('latin1', start, stop)]);
  return { fields, contentLength: parser.contentLength, keepAlive: parser.keepAlive, end };
}

const STATUS_LINE = 'HTTP/1.1 200 OK\r\n';

/** The same as read by llhttp, after a valid status line. */
function parseWithLlhttp(text: string): Head | null {
  const all: [string, string][] = [];
  let inName = false;
  let keepAlive: boolean | null = null;
  const sink: HttpSink = {
    onUrl: () => {},
    onField(bytes, start, end) {
      const piece = bytes.toString('latin1', start, end);
      if (inName) all.at(-1)![0] += piece;
      else all.push([piece, '']);
      inName = true;
    },
    onValue(bytes, start, end) {
      all.at(-1)![1] += bytes.toString('latin1', start, end);
      inName = false;
    },
    onHead(_status, isPersistent) {
      keepAlive = isPersistent;
      return true;
    },
    onBody: () => {},
    onEnd: () => true,
  };
  const llhttp = new HttpParser('response', sink);
  const end = llhttp.read(Buffer.from(STATUS_LINE + text, 'latin1')) - STATUS_LINE.length;
  llhttp.free();
  if (keepAlive === null) return null;
  const known = all
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.replace(/[ \t]+$/, '')])
    .filter(([name]) => names.has(name));
  expect(known.length, 'repeated headers').toBe(new Set(known.map(([name]) => name)).size);
  const { 'content-length': length = '-1', connection, ...values } = Object.fromEntries(known);
  const fields = Object.keys(spans).flatMap((name): [string, string][] =>
    values[name] === undefined ? [] : [[name, values[name]]],
  );
  // Without a length, a response ends with its connection.
  const closes = connection?.toLowerCase() === 'close';
  return { fields, contentLength: Number(length), keepAlive: length === '-1' ? !closes : keepAlive, end };
}

describe('simple header parser', () => {
  it('returns trimmed values of the headers in its table', () => {
    expect(parseSimple('Content-Length: 12\r\nX-a:  b c  \r\nother: 1\r\na:\r\n\r\nbody')).toEqual({
      fields: [
        ['a', ''],
        ['x-a', 'b c'],
      ],
      contentLength: 12,
      keepAlive: true,
      end: 49,
    });
    expect(parseSimple('\r\n')).toEqual({ fields: [], contentLength: -1, keepAlive: true, end: 2 });
  });

  it.each([
    ['that is incomplete', 'a: b\r\n'],
    ['with a blank before a colon', 'a : b\r\n\r\n'],
    ['with a field without a name', ': b\r\n\r\n'],
    ['with line feeds alone', 'a: b\n\n'],
    ['with a NUL', 'a: b\0\r\n\r\n'],
    ['with letters beyond ASCII', 'a: \xe9\r\n\r\n'],
    ['with a header that is null in the table', 'Upgrade: x\r\n\r\n'],
    ['with a repeated header of the table', 'a: 1\r\nA: 1\r\n\r\n'],
    ['with more than 64 headers', `${'b: 1\r\n'.repeat(65)}\r\n`],
    ['with another connection option', 'connection: close, x\r\n\r\n'],
    ['with an empty connection header', 'connection:\r\n\r\n'],
    ['with a header about the proxy connection', 'Proxy-Connection: close\r\n\r\n'],
    ...['', '1000000000', '-1', '+1', '0x1', '1,1'].map((length) => [
      `with the length ${JSON.stringify(length)}`,
      `content-length: ${length}\r\n\r\n`,
    ]),
  ])('leaves a head %s to llhttp', (_what, text) => {
    expect(parseSimple(text)).toBeNull();
  });

  it('reads the connection directive and the length', () => {
    const of = (text: string) => {
      const head = parseSimple(`${text}\r\n\r\n`);
      return [head?.keepAlive, head?.contentLength];
    };
    expect(of('Connection: Close')).toEqual([false, -1]);
    expect(of('connection: KEEP-ALIVE\r\ncontent-length: 007')).toEqual([true, 7]);
    expect(of(`content-length: 999999999\r\n${'b: 1\r\n'.repeat(62)}b: 1`)).toEqual([true, 999_999_999]);
  });

  const odd = fc.constantFrom(...'\r\n \t:\0\x7f\xe9"(');
  const usual = ['a', 'Content', '-', 'Length', 'Connection', '12', 'close', 'b c', '~', ': ', ':', '\r\n'];
  const part = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: odd });

  it('reads the same as llhttp', () => {
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

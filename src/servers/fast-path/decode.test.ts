import { describe, expect, it, vi } from 'vitest';
import { HttpParser } from '../../http/llhttp.ts';
import type { HeaderSpan } from '../../http/simple-header-parser.ts';
import { FastHead, NOT_FAST } from './decode.ts';

const PATH = '/v1/rpc';
const head = new FastHead(PATH, 1_024);

const request = (lines: readonly string[], target = PATH, version = 'HTTP/1.1') =>
  Buffer.from([`POST ${target} ${version}`, ...lines, '', ''].join('\r\n'), 'latin1');
const usual = ['Host: a', 'Content-Type: application/json', 'Content-Length: 12'];

const textOf = (bytes: Buffer, { isPresent, start, end }: HeaderSpan): string | null =>
  isPresent ? bytes.toString('latin1', start, end) : null;

describe('FastHead', () => {
  it('reads the headers of interest', () => {
    const fields = ['aUthorization:Bearer abc  ', 'x-forwarded-for: 1.2.3.4\t', 'other: 1'];
    const bytes = Buffer.concat([
      Buffer.from('before'),
      request([...usual, ...fields], `${PATH}?api-key=x`),
      Buffer.from('{"body"'),
    ]);
    expect(head.read(bytes, 6, bytes.length)).toBe(bytes.length - 7);
    const { query, host, contentType, authorization, forwarded, origin, traceparent } = head;
    expect([query, host, contentType, authorization, forwarded].map((each) => textOf(bytes, each))).toEqual([
      'api-key=x',
      'a',
      'application/json',
      'Bearer abc',
      '1.2.3.4',
    ]);
    expect([origin, traceparent].map((each) => textOf(bytes, each))).toEqual([null, null]);
    expect([head.contentLength, head.keepAlive]).toEqual([12, true]);
  });

  it('keeps nothing of the previous head', () => {
    const first = request([...usual, 'origin: https://a.example', 'connection: close'], `${PATH}?x`);
    expect(head.read(first, 0, first.length)).toBe(first.length);
    expect([textOf(first, head.origin), head.keepAlive]).toEqual(['https://a.example', false]);
    const second = request([...usual, 'authorization:']);
    expect(head.read(second, 0, second.length)).toBe(second.length);
    expect([head.origin, head.query, head.authorization].map((each) => textOf(second, each))).toEqual([
      null,
      null,
      '',
    ]);
    expect(head.keepAlive).toBe(true);
  });

  const odd: [string, Buffer][] = [
    ['another method', Buffer.from(request(usual).toString().replace('POST', 'PUT'))],
    ['another path', request(usual, '/v1/rpcs')],
    ['a path below', request(usual, '/v1/rpc/')],
    ['an absolute target', request(usual, 'http://a/v1/rpc')],
    ['an older version', request(usual, PATH, 'HTTP/1.0')],
    ['no host', request(usual.slice(1))],
    ['two hosts', request([...usual, 'host: a'])],
    ['no length', request(usual.slice(0, 2))],
    ['two lengths', request([...usual, 'content-length: 12'])],
    ['a length with too many digits', request([...usual.slice(0, 2), 'content-length: 1000000000'])],
    ['a chunked body', request([...usual.slice(0, 2), 'transfer-encoding: chunked'])],
    ['a length and a chunked body', request([...usual, 'transfer-encoding: chunked'])],
    ['a compressed body', request([...usual, 'content-encoding: gzip'])],
    ['an expectation', request([...usual, 'expect: 100-continue'])],
    ['an upgrade', request([...usual, 'connection: upgrade', 'upgrade: websocket'])],
    ['a credential twice', request([...usual, 'authorization: a', 'authorization: b'])],
    ['a folded header', request([...usual, 'authorization: a', ' b'])],
    ['a space before a colon', request([...usual, 'x : 1'])],
    ['too many headers', request([...usual, ...Array<string>(70).fill('x: 1')])],
    ['an oversized head', request([...usual, `x: ${'y'.repeat(1_024)}`])],
    ['line feeds alone', Buffer.from(request(usual).toString().replaceAll('\r\n', '\n'))],
    ['a leading empty line', Buffer.from(`\r\n${request(usual)}`)],
    ['TLS bytes', Buffer.from('\x16\x03\x01')],
  ];

  it.each(odd)('rejects a head with %s and reads the next one', (_what, bytes) => {
    expect(head.read(bytes, 0, bytes.length)).toBe(NOT_FAST);
    const next = request(usual);
    expect(head.read(next, 0, next.length)).toBe(next.length);
  });

  it('rejects an incomplete head', () => {
    const bytes = request(usual);
    for (let end = 0; end < bytes.length; end++) expect(head.read(bytes, 0, end)).toBe(NOT_FAST);
    expect(head.read(bytes, 0, bytes.length)).toBe(bytes.length);
  });
});

describe('the simple header parser', () => {
  /** Forces the head through llhttp. */
  const BEYOND_ASCII = 'x: \xe9';
  const found = (lines: readonly string[], to: string, of: string) => {
    const bytes = request(lines, to, of);
    if (head.read(bytes, 0, bytes.length) === NOT_FAST) return null;
    const { query, host, origin, contentType, authorization, forwarded, traceparent, session } = head;
    const spans = [query, host, origin, contentType, authorization, forwarded, traceparent, session];
    return [head.contentLength, head.keepAlive, ...spans.map((each) => textOf(bytes, each))];
  };

  it('reads a common head without llhttp', () => {
    const parse = vi.spyOn(HttpParser.prototype, 'read');
    const bytes = request([...usual, 'authorization: Bearer abc', 'connection: close'], `${PATH}?api-key=x`);
    expect(head.read(bytes, 0, bytes.length)).toBe(bytes.length);
    expect([textOf(bytes, head.authorization), head.keepAlive]).toEqual(['Bearer abc', false]);
    expect(parse).not.toHaveBeenCalled();
    expect(found([...usual, BEYOND_ASCII], PATH, 'HTTP/1.1')).not.toBeNull();
    expect(parse).toHaveBeenCalledOnce();
    parse.mockRestore();
  });

  it.each([PATH, `${PATH}?api-key=x`, `${PATH}?a=%20&b`, `${PATH}?a b`, `${PATH}?"`, `${PATH}#x`])(
    'reads a head for %s like llhttp',
    (target) => {
      const all = [...usual, 'Origin: x', 'X-Forwarded-For: 1.2.3.4', 'traceparent: t', 'connection: close'];
      for (const version of ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', ' HTTP/1.1'])
        expect(found(all, target, version)).toEqual(found([BEYOND_ASCII, ...all], target, version));
    },
  );
});

import { describe, expect, it } from 'vitest';
import { HttpParser, type HttpSink } from './llhttp.ts';

/** Records everything; stops where requested. */
class EventRecorder implements HttpSink {
  readonly events: string[] = [];
  url = '';
  fields: [string, string][] = [];
  body = '';
  ends = 0;
  keepAlive = false;
  status = 0;
  readonly #stops: { head?: boolean; end?: boolean };
  #isName = false;

  constructor(stops: { head?: boolean; end?: boolean } = {}) {
    this.#stops = stops;
  }

  onUrl(bytes: Buffer, start: number, end: number): void {
    this.url += bytes.toString('latin1', start, end);
  }

  onField(bytes: Buffer, start: number, end: number): void {
    if (!this.#isName) this.fields.push(['', '']);
    this.#isName = true;
    (this.fields.at(-1) as [string, string])[0] += bytes.toString('latin1', start, end);
  }

  onValue(bytes: Buffer, start: number, end: number): void {
    this.#isName = false;
    (this.fields.at(-1) as [string, string])[1] += bytes.toString('latin1', start, end);
  }

  onHead(status: number, keepAlive: boolean): boolean {
    this.#isName = false;
    this.status = status;
    this.keepAlive = keepAlive;
    this.events.push('head');
    return this.#stops.head === true;
  }

  onBody(bytes: Buffer, start: number, end: number): void {
    this.body += bytes.toString('latin1', start, end);
  }

  onEnd(): boolean {
    this.ends += 1;
    this.events.push('end');
    return this.#stops.end === true;
  }

  get all(): unknown {
    const { url, fields, body, ends, keepAlive, status, events } = this;
    return { url, fields, body, ends, keepAlive, status, events };
  }
}

const POST =
  'POST /v1/rpc?api-key=x HTTP/1.1\r\nHost: a\r\nEmpty:\r\nContent-Type:  application/json \r\ncontent-length: 5\r\n\r\nhello';
const CHUNKED =
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\ntrailer: t\r\n\r\n';

const read = (kind: 'request' | 'response', pieces: readonly string[], sink = new EventRecorder()) => {
  const parser = new HttpParser(kind, sink);
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1');
    expect(parser.read(bytes)).toBe(bytes.length);
  }
  parser.free();
  return sink;
};

describe('HTTP parser', () => {
  it('reports the parts of a request', () => {
    const sink = new EventRecorder();
    const parser = new HttpParser('request', sink);
    expect(parser.read(Buffer.from(POST))).toBe(POST.length);
    expect([parser.minorVersion, parser.isFaulty]).toEqual([1, false]);
    expect(sink.url).toBe('/v1/rpc?api-key=x');
    expect(sink.fields.map(([name, value]) => [name, value.trim()])).toEqual([
      ['Host', 'a'],
      ['Empty', ''],
      ['Content-Type', 'application/json'],
      ['content-length', '5'],
    ]);
    expect([sink.body, sink.keepAlive, sink.events]).toEqual(['hello', true, ['head', 'end']]);
    parser.free();
  });

  it.each([
    ['request', POST],
    ['request', POST.replace('\r\nEmpty', '\r\nconnection: close\r\nEmpty')],
    ['response', CHUNKED],
    ['response', 'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 500 Oh\r\ncontent-length: 2\r\n\r\nno'],
  ] as const)('reports the same for a %s split at any byte', (kind, text) => {
    const whole = read(kind, [text]).all;
    expect(read(kind, [...text]).all).toEqual(whole);
    for (let at = 1; at < text.length; at++)
      expect(read(kind, [text.slice(0, at), text.slice(at)]).all).toEqual(whole);
  });

  it('parses input larger than its buffer, and a part of its input', () => {
    const body = 'abcdefgh'.repeat(30_000);
    const text = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    expect(read('request', [text]).body === body).toBe(true);
    const sink = new EventRecorder({ end: true });
    const parser = new HttpParser('request', sink);
    const bytes = Buffer.from(`???${text}POST`);
    expect(parser.read(bytes, 3, 100)).toBe(100);
    expect(parser.read(bytes, 100)).toBe(3 + text.length);
    expect([sink.body === body, sink.ends]).toEqual([true, 1]);
    parser.free();
  });

  it('stops after a head on request and continues from there', () => {
    const sink = new EventRecorder({ head: true });
    const parser = new HttpParser('request', sink);
    const bytes = Buffer.from(POST);
    const headEnd = POST.indexOf('\r\n\r\n') + 4;
    expect(parser.read(bytes)).toBe(headEnd);
    expect([parser.isFaulty, sink.body, sink.events]).toEqual([false, '', ['head']]);
    expect(parser.read(bytes, headEnd)).toBe(bytes.length);
    expect([sink.body, sink.events]).toEqual(['hello', ['head', 'end']]);
    parser.free();
  });

  it('stops after each of several messages on request', () => {
    const sink = new EventRecorder({ end: true });
    const parser = new HttpParser('request', sink);
    const bytes = Buffer.from(POST + POST + POST);
    const stops: number[] = [];
    while (stops.length < 3) stops.push(parser.read(bytes, stops.at(-1) ?? 0));
    expect(stops).toEqual([1, 2, 3].map((messages) => messages * POST.length));
    expect([sink.ends, sink.body]).toEqual([3, 'hellohellohello']);
    parser.free();
  });

  it('reports the offset of invalid bytes and stops until it is reset', () => {
    const sink = new EventRecorder();
    const parser = new HttpParser('request', sink);
    const bytes = Buffer.from('POST / HTTP/1.1\r\nho st: a\r\n\r\n');
    const stop = parser.read(bytes);
    expect(parser.isFaulty).toBe(true);
    expect(bytes.toString('latin1', 0, stop)).toBe('POST / HTTP/1.1\r\nho');
    expect(parser.read(Buffer.from(POST))).toBe(0);
    expect([parser.finish(), sink.events]).toEqual([false, []]);
    parser.reset();
    expect([parser.isFaulty, parser.read(Buffer.from(POST)), sink.events]).toEqual([
      false,
      POST.length,
      ['head', 'end'],
    ]);
    parser.free();
  });

  it('distinguishes a body ended by the connection from a truncated one', () => {
    const open = new EventRecorder();
    const parser = new HttpParser('response', open);
    parser.read(Buffer.from('HTTP/1.1 200 OK\r\n\r\nall of it'));
    expect(open.ends).toBe(0);
    expect([parser.finish(), open.ends, open.body]).toEqual([true, 1, 'all of it']);
    parser.free();
    const cut = new HttpParser('response', new EventRecorder());
    cut.read(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'));
    expect(cut.finish()).toBe(false);
    cut.free();
    const idle = new HttpParser('response', new EventRecorder());
    expect(idle.finish()).toBe(true);
    idle.free();
  });
});

describe('ambiguous requests', () => {
  const head = (...lines: string[]) => `POST / HTTP/1.1\r\nhost: a\r\n${lines.join('\r\n')}\r\n\r\n`;

  it.each([
    ['two lengths', head('content-length: 1', 'content-length: 2')],
    ['a length and chunks', head('content-length: 1', 'transfer-encoding: chunked')],
    ['chunked before another encoding', head('transfer-encoding: chunked, gzip')],
    ['a length of 30 digits', head(`content-length: ${'9'.repeat(30)}`)],
    ['a space before the colon', head('content-length : 1')],
    ['a folded header', head('x: 1', ' content-length: 5')],
    ['a bare carriage return', head('x: 1\rcontent-length: 5')],
    ['bare line feeds', 'POST / HTTP/1.1\nhost: a\n\n'],
    ['a NUL', head('x: a\0b')],
  ])('are invalid: %s', (_what, text) => {
    const parser = new HttpParser('request', new EventRecorder());
    parser.read(Buffer.from(text, 'latin1'));
    expect(parser.isFaulty).toBe(true);
    parser.free();
  });
});

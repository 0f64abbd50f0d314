import { afterEach, describe, expect, it, vi } from 'vitest';
import { ByteBudget } from '../../base/cache/byte-budget.ts';
import { HttpParser } from '../../http/llhttp.ts';
import { HttpResponseReader, parseKeepAliveMs } from './http-response-reader.ts';

const MAX = 100_000;
const BUDGET_BYTES = 1_000_000;
const budget = new ByteBudget(() => BUDGET_BYTES);
let reader: HttpResponseReader | null = null;
afterEach(() => reader?.free());

/** Feeds the pieces as separate reads from one buffer until the reader stops. */
function readIn(pieces: readonly Buffer[], responseMaxBytes = MAX): HttpResponseReader {
  reader?.free();
  reader = new HttpResponseReader({ responseMaxBytes }, budget);
  const shared = Buffer.alloc(Math.max(1, ...pieces.map(({ length }) => length)));
  for (const piece of pieces) {
    piece.copy(shared);
    reader.read(shared, 0, piece.length);
    if (reader.readState !== 'more') return reader;
    reader.body.retain();
  }
  return reader;
}

const text = (head: readonly string[], body = ''): Buffer =>
  Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
const whole = (bytes: Buffer): HttpResponseReader => readIn([bytes]);

function splits(bytes: Buffer): Buffer[][] {
  const halves = Array.from(bytes, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [...halves, Array.from(bytes, (byte) => Buffer.from([byte]))];
}

describe('response memory', () => {
  const LONG = 100_000_000;
  const head = text(['HTTP/1.1 200 OK', `content-length: ${LONG}`], '{"jsonrpc"');
  const piece = Buffer.alloc(60_000, 0x61);
  const chunk = Buffer.concat([Buffer.from('ea60\r\n'), piece, Buffer.from('\r\n')]);

  it('stays small until announced data arrives, and is released at the end', () => {
    expect(readIn([head], LONG).readState).toBe('more');
    expect(budget.reservedBytes).toBeLessThanOrEqual(65_536);
    reader?.free();
    expect(budget.reservedBytes).toBe(0);
  });

  it.each([
    ['of known length', [head, ...Array<Buffer>(30).fill(piece)]],
    [
      'in chunks',
      [text(['HTTP/1.1 200 OK', 'transfer-encoding: chunked']), ...Array<Buffer>(30).fill(chunk)],
    ],
  ])('is limited: rejects a response %s', (_name, pieces) => {
    expect(readIn(pieces, LONG).readState).toBe('over-budget');
    expect(budget.reservedBytes).toBeLessThanOrEqual(BUDGET_BYTES);
    reader?.free();
    expect(budget.reservedBytes).toBe(0);
  });
});

describe('HttpResponseReader', () => {
  it.each([
    ['of known length', text(['HTTP/1.1 200 OK', 'Content-Length: 11'], '{"a":[1,2]}')],
    [
      'in chunks',
      text(
        ['HTTP/1.1 200 OK', 'TRANSFER-ENCODING: chunked'],
        '4;x=y\r\n{"a"\r\n7\r\n:[1,2]}\r\n0\r\nt: u\r\n\r\n',
      ),
    ],
    [
      'after informational responses',
      text(
        [
          'HTTP/1.1 103 Early Hints',
          'link: x',
          '',
          'HTTP/1.1 100 Continue',
          '',
          'HTTP/1.1 200 OK',
          'content-length:11 ',
        ],
        '{"a":[1,2]}',
      ),
    ],
  ])('reads a response %s regardless of splits', (_name, bytes) => {
    for (const pieces of splits(bytes)) {
      const got = readIn(pieces);
      expect(got.readState).toBe('complete');
      expect(got.status).toBe(200);
      expect(got.keepAlive).toBe(true);
      expect(got.body.take().toString()).toBe('{"a":[1,2]}');
    }
  });

  it('reads Retry-After and the keep-alive timeout', () => {
    const bytes = text([
      'HTTP/1.1 429 Too Many Requests',
      'ReTry-After: 17',
      'Keep-Alive: timeout=5, max=100',
      'Content-Length: 0',
      'x-retry-after: 3',
    ]);
    for (const pieces of splits(bytes)) {
      const got = readIn(pieces);
      expect(got).toMatchObject({ readState: 'complete', status: 429, retryAfter: '17', keepAliveMs: 4_000 });
      got.next();
      expect(got).toMatchObject({
        readState: 'more',
        retryAfter: null,
        keepAliveMs: null,
        contentLength: -1,
      });
    }
  });

  it('ends with the connection if there is no length', () => {
    const got = whole(text(['HTTP/1.1 200 OK', 'connection: close'], 'abc'));
    expect(got.readState).toBe('more');
    got.finish();
    expect(got).toMatchObject({ readState: 'complete', keepAlive: false });
    expect(got.body.take().toString()).toBe('abc');
  });

  it.each([2, MAX + 1])('ignores %i bytes after the last response of a connection', (length) => {
    const last = text(['HTTP/1.0 500 x', 'content-length: 2'], 'no');
    const extra = text(['HTTP/1.1 200 OK', `content-length: ${length}`], '{}');
    for (const pieces of splits(extra)) {
      const got = whole(last);
      expect(got).toMatchObject({ readState: 'complete', status: 500, keepAlive: false });
      got.next();
      for (const piece of pieces) got.read(piece, 0, piece.length);
      expect(got.readState).toBe('invalid');
    }
  });

  it('rejects a truncated response', () => {
    for (const length of [5, 50_000]) {
      const got = whole(text(['HTTP/1.1 200 OK', `content-length: ${length}`], 'abc'));
      got.finish();
      expect(got.readState).not.toBe('complete');
    }
  });

  it.each([204, 304])('reads no body for status %i', (status) => {
    const got = whole(text([`HTTP/1.1 ${status} x`, 'content-length: 1'], 'a'));
    expect(got).toMatchObject({ readState: 'complete', status, keepAlive: false });
    expect(got.body.take()).toHaveLength(0);
  });

  it('reads the second response from the same bytes', () => {
    const one = text(['HTTP/1.1 200 OK', 'content-length: 3'], 'abc');
    const large = 'x'.repeat(40_000);
    const two = text(['HTTP/1.1 500 x', 'content-length: 40000'], large);
    const bytes = Buffer.concat([two, one, two, one]);
    const got = whole(bytes);
    let at = two.length;
    for (const [status, body] of [
      [200, 'abc'],
      [500, large],
      [200, 'abc'],
    ] as const) {
      got.next();
      at = got.read(bytes, at, bytes.length);
      expect(got).toMatchObject({ readState: 'complete', status });
      expect(got.body.take().toString()).toBe(body);
    }
    expect(at).toBe(bytes.length);
  });
});

describe('rejects', () => {
  it.each([
    ['a response that is not HTTP', Buffer.from('SSH-2.0-OpenSSH_9.2\r\n')],
    ['two lengths', text(['HTTP/1.1 200 OK', 'content-length: 3', 'content-length: 4'], 'abcd')],
    [
      'a length and chunks',
      text(['HTTP/1.1 200 OK', 'content-length: 3', 'transfer-encoding: chunked'], '0\r\n\r\n'),
    ],
    ['a length that is too large', text(['HTTP/1.1 200 OK', 'content-length: 99999999999999999999999'])],
    ['a protocol switch', text(['HTTP/1.1 101 Switching Protocols', 'upgrade: h2c', 'connection: upgrade'])],
  ])('%s', (_name, bytes) => {
    for (const pieces of splits(bytes)) expect(readIn(pieces).readState).toBe('invalid');
  });

  it('an endless head', () => {
    const line = Buffer.from(`x-filler: ${'y'.repeat(500)}\r\n`);
    const pieces = [Buffer.from('HTTP/1.1 200 OK\r\n'), ...Array<Buffer>(40).fill(line)];
    expect(readIn(pieces).readState).toBe('invalid');
    const hints = Array<Buffer>(800).fill(text(['HTTP/1.1 102 Processing', 'x: y']));
    expect(readIn(hints).readState).toBe('invalid');
  });

  it('a response above the limit as early as possible', () => {
    expect(readIn([text(['HTTP/1.1 200 OK', 'content-length: 6'])], 5).readState).toBe('too-large');
    expect(readIn([text(['HTTP/1.1 200 OK', 'content-length: 5'], '12345')], 5).readState).toBe('complete');
    const chunked = text(['HTTP/1.1 200 OK', 'transfer-encoding: chunked'], '6\r\nabcdef\r\n');
    for (const pieces of splits(chunked)) expect(readIn(pieces, 5).readState).toBe('too-large');
  });
});

describe('simple responses', () => {
  const of = (...fields: string[]) => text(['HTTP/1.1 200 OK', ...fields], '{"a":1}');

  it.each([
    [['content-length: 7', 'connection: close']],
    [['content-length: 7', 'content-length: 7']],
    [['content-length: 7', 'transfer-encoding: chunked']],
    [['content-length: 7\t']],
  ])('are parsed by llhttp if ambiguous: %j', (fields) => {
    const parse = vi.spyOn(HttpParser.prototype, 'read');
    whole(of(...fields));
    expect(parse).toHaveBeenCalled();
    parse.mockRestore();
  });
});

describe('request smuggling', () => {
  const next = text(['HTTP/1.1 200 OK', 'content-length: 7'], '{"a":1}');
  const announcing = (status: string) =>
    Buffer.concat([text([`HTTP/1.1 ${status} X`, 'content-length: 4'], 'more'), next]);
  const zeros = '0'.repeat(126);
  const wide = Array.from({ length: 17 }, (_, n) => `x-${n}: ${'y'.repeat(1_000)}`);

  it.each([
    ...['104', '150', '199', '099'].map((status) => [`status ${status} with a body`, announcing(status)]),
    [
      'a length with too many digits',
      text(['HTTP/1.1 200 OK', `content-length: ${zeros}512`], next.toString()),
    ],
    ['a head that is too long', text(['HTTP/1.1 200 OK', ...wide, 'content-length: 7'], '{"a":1}')],
  ] as [string, Buffer][])('rejects %s, regardless of splits', (_name, bytes) => {
    expect(whole(bytes).readState).toBe('invalid');
    const halves = [1, 20, 40, 60, 200].map((at) => [bytes.subarray(0, at), bytes.subarray(at)]);
    for (const pieces of halves) expect(readIn(pieces).readState).toBe('invalid');
  });
});

it('parseKeepAliveMs returns less than the timeout of the node', () => {
  expect(parseKeepAliveMs('timeout=5')).toBe(4_000);
  expect(parseKeepAliveMs('max=100, Timeout=1')).toBe(500);
  expect(parseKeepAliveMs('timeout=0')).toBe(0);
  expect(parseKeepAliveMs('max=5')).toBeNull();
});

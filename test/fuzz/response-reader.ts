import { ByteBudget } from '../../src/base/cache/byte-budget.ts';
import { HttpResponseReader } from '../../src/upstream/http-client/http-response-reader.ts';

export const from = 'nodes';
export const covers = [
  'http/llhttp.ts',
  'http/simple-header-parser.ts',
  'upstream/http-client/http-response-reader.ts',
];

const ANSWER_MAX_BYTES = 64;
const budget = new ByteBudget(() => Number.POSITIVE_INFINITY);

/** How the responses in the bytes were read, up to the first that is not whole. */
function readIn(bytes: Uint8Array, sizeOf: (at: number) => number): string[] {
  const reader = new HttpResponseReader({ responseMaxBytes: ANSWER_MAX_BYTES }, budget);
  const shared = Buffer.alloc(bytes.length);
  const reported: string[] = [];
  try {
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + sizeOf(at));
      shared.set(bytes.subarray(at, end));
      let from = 0;
      while (from < end - at) {
        const to = reader.read(shared, from, end - at);
        if (to < from || to > end - at) throw new Error('read what was not there');
        if (reader.readState === 'more') break;
        reported.push(report(reader));
        if (reader.readState !== 'complete') return reported;
        reader.next();
        from = to;
      }
      reader.body.retain();
      // Nothing of what was read may be needed any longer.
      shared.fill(0x7e);
      at = end;
    }
    reader.finish();
    if (reader.readState === 'complete') reported.push(report(reader));
    return reported;
  } finally {
    reader.free();
  }
}

function report(reader: HttpResponseReader): string {
  const { readState, status, retryAfter, keepAliveMs, keepAlive } = reader;
  if (readState !== 'complete') return readState;
  const body = reader.body.take();
  if (body.length > ANSWER_MAX_BYTES) throw new Error('an answer that is too long');
  if (status < 200) throw new Error('took an announcement for the answer');
  return JSON.stringify([status, retryAfter, keepAliveMs, keepAlive, body.toString('latin1')]);
}

/** Answers to mutate. */
export const seeds: readonly Uint8Array[] = [
  'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nKeep-Alive: timeout=5\r\n\r\n{"a":1}',
  'HTTP/1.1 200 OK\r\nContent-Length: 7\t\r\nConnection: keep-alive\r\n\r\n{"a":1}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3;x="y"\r\n{"a\r\n4\r\n":1}\r\n0\r\ntrailer: z\r\n\r\n',
  'HTTP/1.1 429 Too Many\r\nretry-after: 17\r\ncontent-length: 0\r\n\r\nHTTP/1.1 204 x\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end',
  'HTTP/1.1 150 x\r\ncontent-length: 4\r\n\r\nmoreHTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{"a":1}',
  'HTTP/1.0 500 no\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nno',
  'HTTP/1.0 500 no\r\ncontent-length: 2\r\n\r\nnoHTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{"a":1}',
  'HTTP/1.1 304 x\r\ncontent-length: 9\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 65\r\n\r\n',
].map((text) => Buffer.from(text));

/**
 * Whatever a node sends: no exception, nothing that is longer than it may be, and the same however it is cut.
 * @returns whether an answer was found.
 */
export function fuzz(bytes: Uint8Array): boolean {
  const whole = readIn(bytes, () => bytes.length);
  const seed = (bytes[0] ?? 0) % 7;
  for (const sizeOf of [() => 1, (at: number) => 1 + ((at * 31 + seed) % 13)]) {
    const cut = readIn(bytes, sizeOf);
    if (JSON.stringify(cut) !== JSON.stringify(whole)) {
      throw new Error(`cut: ${JSON.stringify(cut)}; whole: ${JSON.stringify(whole)}`);
    }
  }
  return whole.some((one) => one.startsWith('['));
}

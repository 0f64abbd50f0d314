import { describe, expect, it } from 'vitest';
import type { Failure } from '../../protocol/errors.ts';
import type { ResponseReader } from '../../protocol/streamed-response.ts';
import type { BodyFlow } from '../exchange.ts';
import { PassthroughResponse, type StreamEnd, Utf8Validator } from './passthrough-response.ts';

const ID = 123_456;
const RESULT = JSON.stringify({ list: Array.from({ length: 40 }, (_, n) => `é€😀 ${n}`) });
const body = (result: string, end = `,"id":${ID}}\n`): Buffer =>
  Buffer.from(`{"jsonrpc":"2.0","result":${result}${end}`);
/** The first bytes must suffice to recognize the format. */
const OFFERED = 100;

class Reading implements ResponseReader {
  text = '';
  pieces = 0;
  end: 'complete' | Failure | null = null;
  readonly #decoder = new TextDecoder();

  onData(bytes: Buffer): void {
    this.text += this.#decoder.decode(bytes, { stream: true });
    this.pieces++;
  }

  onEnd(last: Buffer): void {
    this.text += this.#decoder.decode(last);
    this.end = 'complete';
  }

  onError(failure: Failure): void {
    this.end = failure;
  }
}

type Passing = Readonly<{ answer: PassthroughResponse; reader: Reading; flow: string[]; ends: StreamEnd[] }>;

function begin(start: Buffer, bytes: number | null, read = true): Passing {
  const flow: string[] = [];
  const ends: StreamEnd[] = [];
  const control: BodyFlow = {
    pause: () => flow.push('pause'),
    resume: () => flow.push('resume'),
    stop: () => flow.push('stop'),
  };
  const owner = {
    network: 'devnet',
    responseMaxBytes: 9,
    attemptWith: (outcome: string) => ({ node: 'a', startedAt: 0, endedAt: 1, outcome }),
    onStreamEnd: (end: StreamEnd) => ends.push(end),
  } as const;
  const answer = new PassthroughResponse(Buffer.from(start), bytes, ID, control, owner);
  const reader = new Reading();
  if (read) answer.pipeTo(reader);
  return { answer, reader, flow, ends };
}

function pass(bytes: Buffer, size: number, length: number | null = bytes.length): Passing {
  const started = begin(bytes.subarray(0, OFFERED), length);
  for (let at = OFFERED; at < bytes.length; at += size)
    started.answer.onData(Buffer.from(bytes.subarray(at, at + size)));
  started.answer.onEnd();
  return started;
}

const codeOf = ({ reader }: Passing): string | undefined => (reader.end as Failure).code;

describe('PassthroughResponse', () => {
  it.each([1, 64, 100_000])(
    'forwards exactly the announced length in chunks of %i bytes, with or without a newline',
    (size) => {
      for (const end of [`,"id":${ID}}`, `,"id":${ID}}\n`]) {
        const { answer, reader } = pass(body(RESULT, end), size);
        expect(Buffer.byteLength(reader.text)).toBe(answer.bytes);
        expect(JSON.parse(reader.text)).toEqual(JSON.parse(RESULT));
      }
      const { answer, reader } = pass(body(RESULT), size, null);
      expect(answer.bytes).toBeNull();
      expect(reader.text).toBe(RESULT);
    },
  );

  it.each([1, 64, 100_000])('fails when more bytes than announced arrive, in chunks of %i bytes', (size) => {
    const bytes = body(RESULT, `,"id":${ID}}`);
    const { answer, reader, ends } = pass(bytes, size, bytes.length - 200);
    expect((reader.end as Failure).code).toBe('UPSTREAM_UNAVAILABLE');
    expect(ends).toEqual(['invalid']);
    expect(Buffer.byteLength(reader.text)).toBeLessThanOrEqual(answer.bytes as number);
  });

  it.each([
    ['with another id', body(RESULT, `,"id":${ID + 1}}\n`)],
    ['without an end', body(RESULT, '')],
    ['with another end', body(RESULT, `,"id":${ID}},`)],
    ['with a truncated end', body(RESULT).subarray(0, -3)],
    [
      'with invalid UTF-8',
      Buffer.concat([body(RESULT).subarray(0, 200), Buffer.from([0xff]), body(RESULT).subarray(200)]),
    ],
    [
      'with a truncated character at the end of the result',
      Buffer.concat([body(RESULT).subarray(0, 300), Buffer.from(`\xe2,"id":${ID}}\n`, 'latin1')]),
    ],
  ])('fails for a response %s', (_name, bytes) => {
    for (const size of [1, 64, 100_000]) {
      const started = pass(bytes, size);
      expect(codeOf(started)).toBe('UPSTREAM_UNAVAILABLE');
      expect(started.ends).toEqual(['invalid']);
    }
  });

  it('starts only for a large result', () => {
    const filler = 'x'.repeat(100);
    for (const text of [
      `{"jsonrpc":"2.0","error":{"code":1${filler}`,
      `{"jsonrpc":"2.0","id":7,"result":[${filler}`,
      `{"jsonrpc":"2.0","result":1${filler}`,
      filler,
      '{"jsonrpc":"2.0","result":{}',
    ]) {
      expect(PassthroughResponse.canStream(Buffer.from(text))).toBe(false);
    }
    expect(PassthroughResponse.canStream(body(RESULT))).toBe(true);
  });

  it('stops on cancel, without further callbacks', () => {
    const { answer, reader, flow, ends } = begin(body(RESULT).subarray(0, OFFERED), null);
    answer.cancel();
    answer.cancel();
    answer.onData(body(RESULT));
    answer.onError({ kind: 'too-large' });
    expect(answer.onEnd()).toBe(true);
    expect({ flow, ends, end: reader.end, text: reader.text }).toEqual({
      flow: ['resume', 'stop'],
      ends: ['canceled'],
      end: null,
      text: '',
    });
  });

  it('reports the cause of an abort: node, slow reader, or length', () => {
    const late = { kind: 'transport', wasSent: true, timedOut: true } as const;
    const lost = { ...late, timedOut: false };
    const start = body(RESULT).subarray(0, OFFERED);
    const end = (exchange: Parameters<PassthroughResponse['onError']>[0], isPaused = false): unknown[] => {
      const started = begin(start, null);
      if (isPaused) started.answer.pause();
      started.answer.onError(exchange);
      return [codeOf(started), ...started.ends];
    };
    expect(end(lost)).toEqual(['UPSTREAM_UNAVAILABLE', 'lost']);
    expect(end(late)).toEqual(['UPSTREAM_TIMEOUT', 'lost']);
    expect(end(late, true)).toEqual(['CLIENT_GONE', 'canceled']);
    expect(end({ kind: 'too-large' })).toEqual(['ANSWER_TOO_LARGE', 'canceled']);
    const unread = begin(start, null, false);
    unread.answer.onError(lost);
    unread.answer.pipeTo(unread.reader);
    expect(codeOf(unread)).toBe('UPSTREAM_UNAVAILABLE');
  });
});

function isText(pieces: readonly Buffer[]): boolean {
  const utf8 = new Utf8Validator();
  return pieces.every((piece) => utf8.add(piece)) && utf8.isComplete;
}

const cuts = (bytes: Buffer): Buffer[][] =>
  Array.from({ length: bytes.length + 1 }, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
const single = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));

describe('Utf8Validator', () => {
  it('accepts valid text at any split', () => {
    const bytes = Buffer.from('aé€😀z😀');
    for (const pieces of [...cuts(bytes), single(bytes)]) expect(isText(pieces)).toBe(true);
  });

  it.each([
    [0xff],
    [0x61, 0x80, 0x61],
    [0xe2, 0x82, 0x61],
    [0xf0, 0x9f, 0x98],
    [0xc0, 0xaf],
    [0xed, 0xa0, 0x80],
    [0x80, 0x80, 0x80, 0x80],
  ])('rejects invalid text at any split', (...codes) => {
    const bytes = Buffer.from(codes);
    for (const pieces of [...cuts(bytes), single(bytes)]) expect(isText(pieces)).toBe(false);
  });
});

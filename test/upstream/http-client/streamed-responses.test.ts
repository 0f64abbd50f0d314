import { afterEach, describe, expect, it } from 'vitest';
import { READ_MAX_BYTES } from '../../../src/http/buffer-pool.ts';
import type { ResponseHandler } from '../../../src/protocol/call.ts';
import type { Failure } from '../../../src/protocol/errors.ts';
import type { ResponseReader, StreamedResponse } from '../../../src/protocol/streamed-response.ts';
import type { BodyListener, NodeRequest, PendingRequest } from '../../../src/upstream/exchange.ts';
import type { UpstreamLimits } from '../../../src/upstream/limits.ts';
import type { UpstreamNode } from '../../../src/upstream/node.ts';
import type { Outcome } from '../../../src/upstream/outcome.ts';
import { sendAttempt } from '../../../src/upstream/retry/attempt.ts';
import { stage, until } from '../mock/pool.ts';
import { call, nodeAt, outcomeText, PATIENCE_MS } from './node-rig.ts';
import { envelope, http, type RawNode, type RawScript, responding, startRaw } from './raw-node.ts';

const FROM = 100_000;
const MIB = 1024 * 1024;

let raw: RawNode;
let node: UpstreamNode;
afterEach(async () => {
  await node.close();
  await raw.close();
});

async function open(script: RawScript, limits: Partial<UpstreamLimits> = {}): Promise<void> {
  raw = await startRaw(script);
  node = nodeAt(raw.url, { streamFromBytes: FROM, ...limits });
}

class Reading implements ResponseReader {
  readonly pieces: Buffer[] = [];
  bytes = 0;
  end: 'complete' | Failure | null = null;
  readonly answer: StreamedResponse;
  request: PendingRequest | null = null;
  readonly #pauseFrom: number;

  constructor(answer: StreamedResponse, pauseFrom = Number.POSITIVE_INFINITY) {
    this.answer = answer;
    this.#pauseFrom = pauseFrom;
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  onData(bytes: Buffer): void {
    this.pieces.push(bytes);
    this.bytes += bytes.length;
    if (this.bytes >= this.#pauseFrom) this.answer.pause();
  }

  onEnd(last: Buffer): void {
    this.pieces.push(last);
    this.bytes += last.length;
    this.end = 'complete';
  }

  onError(failure: Failure): void {
    this.end = failure;
  }
}

function send(pauseFrom?: number, method = 'getProgramAccounts'): Promise<Reading | Outcome> {
  return new Promise((resolve) => {
    const request = sendAttempt(node, call(method), PATIENCE_MS, {
      acceptsStream: true,
      onOutcome: resolve,
      onStream(answer) {
        const reading = new Reading(answer, pauseFrom);
        reading.request = request;
        answer.pipeTo(reading);
        resolve(reading);
      },
    });
  });
}

async function reading(pauseFrom?: number): Promise<Reading> {
  const got = await send(pauseFrom);
  expect(got).toBeInstanceOf(Reading);
  return got as Reading;
}

const long = (bytes: number): string => JSON.stringify('é'.repeat(bytes / 2));

const chunked = (text: string): string =>
  `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${(text.match(/.{1,30000}/gs) ?? [])
    .map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`)
    .join('')}0\r\n\r\n`;

describe('streamed response', () => {
  it.each([
    ['of known length', (text: string) => http(text)],
    ['in chunks', chunked],
  ])('%s is forwarded, and its connection reused', async (_name, framed) => {
    const result = long(MIB);
    await open(({ socket, id }) => socket.write(framed(envelope(id, result))));
    for (let i = 0; i < 3; i++) {
      const got = await reading();
      await until(() => got.end !== null);
      expect(got.end).toBe('complete');
      expect(got.text.trimEnd() === result).toBe(true);
      expect(Math.max(...got.pieces.map(({ length }) => length))).toBeLessThan(FROM + READ_MAX_BYTES + 1_000);
      if (got.answer.bytes !== null) expect(got.bytes).toBe(got.answer.bytes);
      got.request?.abort();
    }
    expect(raw.sockets).toHaveLength(1);
    expect(node.inFlight).toBe(0);
  });

  it('is scanned completely when buffered for the cache', async () => {
    const broken = `{"a":${long(10_000)},]}`;
    await open(({ socket, id }) => socket.write(http(envelope(id, broken))));
    expect(await send(undefined, 'getProgramAccounts')).toMatchObject({ kind: 'response' });
    expect(await send(undefined, 'getBlock')).toEqual({ kind: 'invalid' });
  });

  it('is buffered for callers without streaming, for errors, and when small', async () => {
    const result = long(MIB);
    await open(({ socket, id }) => socket.write(http(envelope(id, result))));
    expect((await outcomeText(node)) === result).toBe(true);
    raw.become(({ socket, id }) => socket.write(http(envelope(id, long(FROM - 200)))));
    expect(await send()).toMatchObject({ kind: 'response' });
    const error = (id: number): string =>
      `{"jsonrpc":"2.0","error":{"code":-32602,"message":"${'x'.repeat(2 * FROM)}"},"id":${id}}`;
    for (const framed of [http, chunked]) {
      raw.become(({ socket, id }) => socket.write(framed(error(id))));
      expect(await send()).toMatchObject({ kind: 'response', response: { errorCode: -32602 } });
    }
    expect(raw.sockets).toHaveLength(1);
  });

  it.each<[string, (text: string, id: number) => string, string]>([
    ['is truncated', (text) => http(text).slice(0, -500_000), 'UPSTREAM_UNAVAILABLE'],
    [
      'belongs to another request',
      (text, id) => http(text.replace(`"id":${id}`, `"id":${id + 1}`)),
      'UPSTREAM_UNAVAILABLE',
    ],
    [
      'exceeds the size limit',
      (text) => chunked(`${text.slice(0, -20)}${'z'.repeat(MIB)}`),
      'ANSWER_TOO_LARGE',
    ],
  ])('that %s fails', async (_name, framed, code) => {
    await open(({ socket, id }) => socket.end(framed(envelope(id, long(MIB)), id)), {
      responseMaxBytes: 1.5 * MIB,
    });
    const got = await reading();
    await until(() => got.end !== null);
    expect(got.end).toMatchObject({ code });
    await until(() => raw.open() === 0);
    expect(node.inFlight).toBe(0);
  });

  it('is paused while its reader is slow', async () => {
    const size = 64 * MIB;
    let written = 0;
    await open(({ socket, id }) => {
      const text = envelope(id, JSON.stringify('z'.repeat(size)));
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n`);
      const bytes = Buffer.from(text);
      const more = (): void => {
        while (written < bytes.length) {
          const piece = bytes.subarray(written, written + MIB);
          written += piece.length;
          if (!socket.write(piece)) return;
        }
      };
      socket.on('drain', more);
      more();
    });
    const got = await reading(MIB);
    await until(() => got.bytes >= MIB);
    const held = got.bytes;
    // Other requests let time pass.
    const other = nodeAt(raw.url);
    raw.become(responding);
    for (let i = 0; i < 20; i++) await outcomeText(other);
    await other.close();
    expect(got.bytes).toBe(held);
    // The socket buffers hold some of it.
    expect(written).toBeLessThan(32 * MIB);
    got.answer.cancel();
    await until(() => raw.open() === 0);
    expect(got.end).toBeNull();
    expect(node.inFlight).toBe(0);
  });

  it('is aborted when the node or the reader makes no progress', async () => {
    await open(({ socket, id }) => socket.write(http(envelope(id, long(MIB))).slice(0, 500_000)), {
      streamStallMs: 100,
    });
    const stuck = await reading();
    await until(() => stuck.end !== null);
    expect(stuck.end).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    raw.become(({ socket, id }) => socket.write(http(envelope(id, long(MIB)))));
    const slow = await reading(1);
    await until(() => slow.end !== null);
    expect(slow.end).toMatchObject({ code: 'CLIENT_GONE' });
  });

  it('is buffered when too many are being streamed', async () => {
    await open(({ socket, id }) => socket.write(http(envelope(id, long(MIB)))), { longResponsesMax: 1 });
    const first = await reading(1);
    expect(await send()).toMatchObject({ kind: 'response' });
    first.answer.resume();
    first.answer.cancel();
    const second = await reading();
    await until(() => second.end !== null);
    expect(second.end).toBe('complete');
  });
});

const throws = (): never => {
  throw new RangeError('Maximum call stack size exceeded');
};

function sendBroken(broken: Partial<NodeRequest>): void {
  const same = { id: 1, method: 'getBlock', params: null, isLight: false, canPipeline: false };
  const request = {
    ...same,
    acceptsStream: false,
    onExchange: () => true,
    onStreamStart: () => null,
    ...broken,
  };
  const now = performance.now();
  node.send(request, now + PATIENCE_MS, now);
}

const sink: BodyListener = { onData: throws, onEnd: throws, onError: throws };
const streamed: NodeRequest['onStreamStart'] = (_start, _bytes, flow) => {
  flow.resume();
  return sink;
};

describe('exception while processing a response', () => {
  it.each<[string, Partial<NodeRequest>]>([
    ['at the end', { onExchange: throws }],
    ['at the start of the stream', { acceptsStream: true, onStreamStart: throws }],
    ['in the middle of the stream', { acceptsStream: true, onStreamStart: streamed }],
  ])('%s closes the connection; the next request uses another', async (_name, broken) => {
    await open(({ socket, id }) => socket.write(http(envelope(id, long(MIB)))));
    sendBroken(broken);
    await until(() => raw.sockets.length === 1 && raw.open() === 0);
    raw.become(responding);
    expect([await outcomeText(node), raw.sockets.length]).toEqual(['7', 2]);
  });

  it('in a stream handler fails its call', async () => {
    await open(({ socket, id }) => socket.write(http(envelope(id, long(MIB)))));
    const scene = await stage([{ name: 'raw', url: raw.url }], { streamFromBytes: 1_000 });
    const failure = await new Promise<unknown>((resolve) => {
      const listener: ResponseHandler = {
        onResponse: resolve,
        onError: resolve,
        stream: { onStream: throws },
      };
      scene.pool.dispatch(call('getProgramAccounts'), listener);
    });
    expect(failure).toMatchObject({ code: 'INTERNAL' });
    expect(scene.pool.status()[0]!.inFlight).toBe(0);
    await scene.close();
  });
});

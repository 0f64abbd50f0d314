import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { bufferPool } from '../../src/http/buffer-pool.ts';
import { Failure } from '../../src/protocol/errors.ts';
import type { RequestHandler } from '../../src/protocol/request-handler.ts';
import type { ResponseReader, StreamedResponse } from '../../src/protocol/streamed-response.ts';
import { ResponseCompression } from '../../src/servers/compression.ts';
import { FastHttpServer } from '../../src/servers/fast-path/server.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { RpcCalls } from '../../src/servers/rpc/calls.ts';
import { rpcRoutes } from '../../src/servers/rpc/server.ts';
import { until } from '../upstream/mock/pool.ts';

const PIECE_BYTES = 64 * 1024;
const BLANK = Buffer.alloc(PIECE_BYTES);
const QUOTE = Buffer.from('"');

const letterOf = (piece: number): string => String.fromCharCode(0x61 + (piece % 26));

/** A streamed result in pooled buffers with backpressure, whose end the test controls. */
class Coming implements StreamedResponse {
  readonly bytes: number | null;
  readonly #pieces: number;
  readonly #end: 'whole' | 'broken';
  #reader: ResponseReader | null = null;
  #isPaused = false;
  given = 0;
  readonly pooled: Buffer[] = [];
  hasLeft = false;

  constructor(pieces: number, hasLength: boolean, end: 'whole' | 'broken') {
    this.#pieces = pieces;
    this.#end = end;
    this.bytes = hasLength ? QUOTE.length + (pieces + 1) * PIECE_BYTES : null;
  }

  pipeTo(reader: ResponseReader): void {
    this.#reader = reader;
    reader.onData(QUOTE);
    this.#give();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (this.#isPaused) setImmediate(() => this.#give());
    this.#isPaused = false;
  }

  cancel(): void {
    this.hasLeft = true;
  }

  #give(): void {
    const reader = this.#reader;
    while (!this.#isPaused && !this.hasLeft && this.given < this.#pieces) {
      const piece = bufferPool.copyOf(BLANK, 0, PIECE_BYTES).fill(letterOf(this.given));
      this.given++;
      this.pooled.push(piece);
      reader?.onData(piece);
    }
    if (this.#isPaused || this.hasLeft || this.#reader === null) return;
    this.#reader = null;
    if (this.#end === 'broken') {
      reader?.onError(new Failure('UPSTREAM_UNAVAILABLE'));
      return;
    }
    const last = bufferPool.copyOf(BLANK, 0, PIECE_BYTES).fill(' ');
    QUOTE.copy(last);
    this.pooled.push(last);
    reader?.onEnd(last);
  }
}

let server: HttpServer;
let streamed: Coming;
afterEach(() => server.drain(0));

async function start(raw: boolean, next: () => Coming, minBytes = 0): Promise<string> {
  const gateway: RequestHandler = {
    admit: () => ({ startedAt: 0 }),
    dispatch: (_request, { stream }) => {
      streamed = next();
      stream?.respondStream(streamed, { rateLimit: null });
      return { cancel: () => {} };
    },
    recordInvalidRequest: ({ fault }) => ({ failure: fault, rateLimit: null }),
  };
  const log = createLogger('silent', () => {});
  const compression = new ResponseCompression({ compressionMinBytes: minBytes, compressionsMax: 1 });
  const calls = new RpcCalls(gateway, { compression });
  server = new HttpServer(
    rpcRoutes(calls),
    log,
    {},
    [],
    new Map(),
    raw ? new FastHttpServer(calls, log) : null,
  );
  return `http://127.0.0.1:${(await server.listen()).port}/v1/rpc`;
}

const post = (url: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":"me","method":"getProgramAccounts"}',
  });

describe.each([{ raw: true }, { raw: false }])('a streamed result, fast path: $raw', ({ raw }) => {
  it.each([
    { hasLength: true, minBytes: 0 },
    { hasLength: false, minBytes: 0 },
    { hasLength: true, minBytes: 1 },
  ])(
    'arrives completely, releases its memory and keeps the connection open; length known: $hasLength, compressed from: $minBytes',
    async ({ hasLength, minBytes }) => {
      const url = await start(raw, () => new Coming(100, hasLength, 'whole'), minBytes);
      const letters = Array.from({ length: 100 }, (_, piece) => letterOf(piece).repeat(PIECE_BYTES));
      const compressed: boolean[] = [];
      const take = async (): Promise<void> => {
        const response = await post(url);
        const isCompressed = response.headers.get('content-encoding') === 'gzip';
        compressed.push(isCompressed);
        expect(response.headers.has('content-length')).toBe(hasLength && !isCompressed);
        const { id, result } = (await response.json()) as { id: string; result: string };
        expect(id).toBe('me');
        expect(result === letters.join('')).toBe(true);
      };
      for (let i = 0; i < 2; i++) await Promise.all([take(), take(), take()]);
      expect(compressed.includes(true)).toBe(minBytes > 0);
      await until(() => streamed.pooled.every((piece) => !bufferPool.isPooled(piece)));
    },
  );

  it.each([{ hasLength: true }, { hasLength: false }])(
    'is recognizably incomplete for the client if it breaks off; length known: $hasLength',
    async ({ hasLength }) => {
      const url = await start(raw, () => new Coming(3, hasLength, 'broken'));
      await expect(post(url).then((response) => response.text())).rejects.toThrow();
    },
  );

  it('waits for a slow reader, and is cancelled when it disconnects', async () => {
    const url = await start(raw, () => new Coming(10_000, true, 'whole'));
    const response = await post(url);
    const reader = response.body!.getReader();
    await reader.read();
    expect(streamed.given).toBeLessThan(2_000);
    await reader.cancel();
    await until(() => streamed.hasLeft);
  });
});

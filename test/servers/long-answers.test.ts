import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/log.ts';
import { Failure } from '../../src/protocol/errors.ts';
import type { LongAnswer, LongReader } from '../../src/protocol/long-answer.ts';
import type { Door } from '../../src/protocol/serve.ts';
import { HttpServer } from '../../src/servers/http.ts';
import { RawDoor } from '../../src/servers/raw/raw-door.ts';
import { RpcCalls } from '../../src/servers/rpc/calls.ts';
import { rpcRoutes } from '../../src/servers/rpc/server.ts';
import { until } from '../upstream/mock/pool.ts';

const PIECE = Buffer.alloc(64 * 1024, 'z');
const QUOTE = Buffer.from('"');

/** A long result that comes as fast as it is taken, and ends as it is told to. */
class Coming implements LongAnswer {
  readonly bytes: number | null;
  readonly #pieces: number;
  readonly #end: 'whole' | 'broken';
  #reader: LongReader | null = null;
  #isPaused = false;
  given = 0;
  hasLeft = false;

  constructor(pieces: number, hasLength: boolean, end: 'whole' | 'broken') {
    this.#pieces = pieces;
    this.#end = end;
    this.bytes = hasLength ? pieces * PIECE.length + 2 : null;
  }

  readInto(reader: LongReader): void {
    this.#reader = reader;
    reader.piece(QUOTE);
    this.#give();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (this.#isPaused) setImmediate(() => this.#give());
    this.#isPaused = false;
  }

  leave(): void {
    this.hasLeft = true;
  }

  #give(): void {
    const reader = this.#reader;
    while (!this.#isPaused && !this.hasLeft && this.given < this.#pieces) {
      this.given++;
      reader?.piece(PIECE);
    }
    if (this.#isPaused || this.hasLeft || this.#reader === null) return;
    this.#reader = null;
    if (this.#end === 'broken') {
      reader?.failed(new Failure('UPSTREAM_UNAVAILABLE'));
      return;
    }
    reader?.ended(QUOTE);
  }
}

let server: HttpServer;
let coming: Coming;
afterEach(() => server.drain(0));

/** A server that answers every call with a long result. */
async function start(raw: boolean, next: () => Coming): Promise<string> {
  const door: Door = {
    admit: () => null,
    enter: () => ({ startedAt: 0 }),
    serve: () => Promise.reject(new Error('asked for the whole')),
    put: (_request, { long }) => {
      coming = next();
      long?.repliedLong(coming, { rateLimit: null });
      return { leave: () => {} };
    },
    countNonCall: ({ fault }) => ({ failure: fault, rateLimit: null }),
  };
  const log = createLogger('silent', () => {});
  const calls = new RpcCalls(door);
  server = new HttpServer(rpcRoutes(calls), log, {}, [], new Map(), raw ? new RawDoor(calls, log) : null);
  return `http://127.0.0.1:${(await server.listen()).port}/v1/rpc`;
}

const post = (url: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":"me","method":"getProgramAccounts"}',
  });

describe.each([{ raw: true }, { raw: false }])('a long result through the door, raw: $raw', ({ raw }) => {
  it.each([{ hasLength: true }, { hasLength: false }])(
    'arrives whole, and the connection goes on; its length known: $hasLength',
    async ({ hasLength }) => {
      const url = await start(raw, () => new Coming(100, hasLength, 'whole'));
      for (let i = 0; i < 3; i++) {
        const response = await post(url);
        expect(response.headers.has('content-length')).toBe(hasLength);
        const { id, result } = (await response.json()) as { id: string; result: string };
        expect(id).toBe('me');
        expect(result === 'z'.repeat(100 * PIECE.length)).toBe(true);
      }
    },
  );

  it.each([{ hasLength: true }, { hasLength: false }])(
    'that breaks off is not taken for whole by the client; its length known: $hasLength',
    async ({ hasLength }) => {
      const url = await start(raw, () => new Coming(3, hasLength, 'broken'));
      await expect(post(url).then((response) => response.text())).rejects.toThrow();
    },
  );

  it('waits for a client that reads slowly, and is left when they leave', async () => {
    const url = await start(raw, () => new Coming(10_000, true, 'whole'));
    const response = await post(url);
    const reader = response.body!.getReader();
    await reader.read();
    expect(coming.given).toBeLessThan(2_000);
    await reader.cancel();
    await until(() => coming.hasLeft);
  });
});

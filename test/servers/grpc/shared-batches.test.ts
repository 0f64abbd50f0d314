import { randomBytes } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeNames } from '../../../src/protocol/geyser/encode/envelope.ts';
import type { GrpcServerOptions } from '../../../src/servers/grpc/options.ts';
import { namesIn } from '../../streams/random-updates.ts';
import { NONE, type RawCall, SUBSCRIBE, TestGrpcServer } from './start-grpc-server.ts';

/** Batches are shared between streams: no stream may receive another's messages. */
let stage: TestGrpcServer;
afterEach(() => stage.stop());

const encodings = ['identity', 'gzip', 'zstd'] as const;
const headersOf = (encoding: string): Record<string, string> =>
  encoding === 'identity' ? {} : { 'grpc-encoding': encoding, 'grpc-accept-encoding': encoding };

/** Two streams after their first pings. */
async function two(headers: Record<string, string>, options: Partial<GrpcServerOptions> = {}) {
  stage = await new TestGrpcServer({ joinMs: 0, ...options }).listen();
  const calls: RawCall[] = [];
  for (let nth = 0; nth < 2; nth++) {
    const call = stage.call(SUBSCRIBE, headers);
    await stage.stream(nth);
    await call.next();
    calls.push(call);
  }
  const sinks = [(await stage.stream(0)).sink, (await stage.stream(1)).sink] as const;
  return { calls: calls as [RawCall, RawCall], sinks };
}

/** Compressible bytes. */
const tail = Buffer.alloc(3_000, 0xff);

describe('streams with the same update in the same turn', () => {
  const theirs = [encodeNames(['mine', 'both']), encodeNames(['yours', 'two'])] as const;

  it.each(encodings)('have their own filter names: %s', async (encoding) => {
    const { calls, sinks } = await two(headersOf(encoding));
    for (const order of [
      [0, 1],
      [1, 0],
      [0, 1],
    ] as const) {
      for (const at of order) sinks[at].push(theirs[at], tail);
      const [first, second] = [await calls[0].next(), await calls[1].next()];
      expect([first.length, second.length]).toEqual(theirs.map((names) => names.length + tail.length));
      expect(namesIn(first.subarray(0, theirs[0].length))).toEqual(['mine', 'both']);
      expect(namesIn(second.subarray(0, theirs[1].length))).toEqual(['yours', 'two']);
    }
  });

  it.each(encodings)('have their own messages if only the first is shared: %s', async (encoding) => {
    const { calls, sinks } = await two(headersOf(encoding));
    const [names] = theirs;
    for (const at of [0, 1] as const) {
      sinks[at].push(names, tail);
      sinks[at].push(NONE, Buffer.from(`of ${at}`));
    }
    for (const at of [0, 1] as const) {
      expect((await calls[at].next()).length).toBe(names.length + tail.length);
      expect(String(await calls[at].next())).toBe(`of ${at}`);
    }
  });
});

describe('a message to a client that accepts compression', () => {
  const unpack = { gzip: gunzipSync, zstd: zstdDecompressSync };

  it.each(['gzip', 'zstd'] as const)('is compressed only if that makes it smaller: %s', async (encoding) => {
    const { calls, sinks } = await two(headersOf(encoding));
    const pieces: Buffer[] = [];
    calls[0].stream.on('data', (piece: Buffer) => pieces.push(piece));
    const noise = randomBytes(4_000);
    for (const message of [noise, tail]) {
      sinks[0].push(NONE, message);
      expect((await calls[0].next()).equals(message)).toBe(true);
    }
    const bytes = Buffer.concat(pieces);
    expect([bytes[0], bytes.readUInt32BE(1)]).toEqual([0, noise.length]);
    const rest = bytes.subarray(5 + noise.length);
    expect([rest[0], rest.readUInt32BE(1)]).toEqual([1, rest.length - 5]);
    expect(rest.length).toBeLessThan(tail.length / 10);
    expect(unpack[encoding](rest.subarray(5)).equals(tail)).toBe(true);
  });
});

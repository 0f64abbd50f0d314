import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../protocol/errors.ts';
import { GrpcError } from '../../protocol/grpc/status.ts';
import { RequestBudget, RequestFrames } from './decode.ts';

const MAX_BYTES = 2_000;
const sizes = { messageMaxBytes: MAX_BYTES, decompressionRatioMax: 16, ratioExemptBytes: MAX_BYTES };

function read(frames: RequestFrames, piece: Buffer): Buffer[] {
  frames.push(piece);
  const messages: Buffer[] = [];
  for (let next = frames.next(); next !== null; next = frames.next())
    messages.push(Buffer.from(next.message));
  return messages;
}

function frame(message: Uint8Array, isPacked: boolean): Buffer {
  const content = isPacked ? gzipSync(message) : message;
  const head = Buffer.alloc(5);
  head[0] = isPacked ? 1 : 0;
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

function* cut(bytes: Buffer, sizes: readonly number[]): Iterable<Buffer> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] as number;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const pieceSizes = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 8 });

/** For one message only, so that a leak makes the next one fail. */
const budget = () => new RequestBudget(MAX_BYTES + 300);

describe('RequestFrames', () => {
  it('returns complete messages for any chunk boundaries and releases their memory', () => {
    const messages = fc.array(fc.tuple(fc.uint8Array({ maxLength: 1_500 }), fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(messages, pieceSizes, (sent, lengths) => {
        const frames = new RequestFrames('gzip', sizes, budget());
        const bytes = Buffer.concat(sent.map(([message, isPacked]) => frame(message, isPacked)));
        const got: Buffer[] = [];
        for (const piece of cut(bytes, lengths)) {
          got.push(...read(frames, piece));
        }
        expect(got.map((message) => [...message])).toEqual(sent.map(([message]) => [...message]));
        expect(frames.isPartial).toBe(false);
      }),
    );
  });

  it('throws only errors that clients may see for malformed frames', () => {
    const mutated = fc.tuple(fc.uint8Array({ maxLength: 600 }), fc.array(fc.tuple(fc.nat(700), fc.nat(255))));
    fc.assert(
      fc.property(fc.array(mutated, { maxLength: 6 }), pieceSizes, (sent, lengths) => {
        const one = budget();
        const frames = new RequestFrames('zstd', sizes, one);
        const bytes = Buffer.concat(sent.map(([message]) => frame(message, false)));
        for (const [, changes] of sent)
          for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
        try {
          for (const piece of cut(bytes, lengths)) read(frames, piece);
        } catch (thrown) {
          expect(thrown instanceof GrpcError || thrown instanceof Failure).toBe(true);
        }
        frames.close();
        one.reserve(MAX_BYTES + 300);
      }),
    );
  });

  it('reserves no more memory than has arrived', () => {
    const small = new RequestBudget(1_000);
    const frames = new RequestFrames('identity', { ...sizes, messageMaxBytes: 1 << 30 }, small);
    expect(read(frames, Buffer.of(0, 0x3f, 0, 0, 0, 1, 2, 3))).toEqual([]);
    small.reserve(700);
    expect(() => read(frames, Buffer.alloc(500))).toThrow(Failure);
  });
});

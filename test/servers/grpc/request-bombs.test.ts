import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { GrpcServerOptions } from '../../../src/servers/grpc/options.ts';
import { TestGrpcServer } from './start-grpc-server.ts';

/** Small requests that decompress to large ones: `messageMaxBytes` limits the decompressed size. */
let stage: TestGrpcServer;
afterEach(() => stage.stop());

const MAX_BYTES = 60_000;
const GET_SLOT = '/geyser.Geyser/GetSlot';
const packs = { gzip: (bytes: Buffer) => gzipSync(bytes), zstd: (bytes: Buffer) => zstdCompressSync(bytes) };

function frame(content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 1;
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

describe.each(['gzip', 'zstd'] as const)('a request compressed with %s', (encoding) => {
  const send = async (path: string, bytes: number, options: Partial<GrpcServerOptions> = {}) => {
    stage = await new TestGrpcServer({ messageMaxBytes: MAX_BYTES, ...options }).listen();
    const call = stage.call(path, { 'grpc-encoding': encoding });
    const packed = frame(packs[encoding](Buffer.alloc(bytes)));
    expect(packed.length).toBeLessThan(MAX_BYTES);
    call.stream.end(packed);
    return call;
  };

  it('may be as large as any other', async () => {
    const call = await send(GET_SLOT, MAX_BYTES);
    expect((await call.next()).length).toBe(MAX_BYTES);
    expect(await call.ended()).toMatchObject({ 'grpc-status': '0' });
  });

  it('is refused one byte above the limit', async () => {
    const ended = await (await send(GET_SLOT, MAX_BYTES + 1)).ended();
    expect(ended['grpc-status']).toBe('11');
    expect(ended['grpc-message']).toBe(
      `Error, decoded message length too large: found more than ${MAX_BYTES} bytes, the limit is: ${MAX_BYTES} bytes`,
    );
  });

  it('may decompress to a fixed size, and beyond it to a ratio of its size', async () => {
    const limits = { unpackedFreeBytes: 5_000, unpackedRatioMax: 2 };
    const call = await send(GET_SLOT, 5_000, limits);
    expect((await call.next()).length).toBe(5_000);
    await stage.stop();
    const ended = await (await send(GET_SLOT, 5_001, limits)).ended();
    expect(ended).toMatchObject({
      'grpc-status': '11',
      'grpc-message':
        'Error, decoded message length too large: found more than 5000 bytes, the limit is: 5000 bytes',
    });
  });
});

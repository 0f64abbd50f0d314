import { createZstdCompress } from 'node:zlib';
import { expect, it } from 'vitest';
import { compressAsStream } from './zstd-frame.ts';

const BLOCK = 128 * 1024;

/** Without its length in advance. */
async function streamed(data: Uint8Array): Promise<Buffer> {
  const encoder = createZstdCompress();
  encoder.write(data, () => encoder.end());
  return Buffer.concat(await encoder.toArray());
}

const noise = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => Math.imul(index, 2654435761) >>> 24);

it.each([1, 165, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 300_000])(
  'compresses %i bytes as a stream does',
  async (length) => {
    for (const data of [noise(length), new Uint8Array(length)]) {
      expect(compressAsStream(data)).toEqual(await streamed(data));
    }
  },
);

it('compresses nothing to a frame with a content size, as Agave does', () => {
  expect(compressAsStream(new Uint8Array()).toString('hex')).toBe('28b52ffd2000010000');
});

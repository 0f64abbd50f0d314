import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { decoded, mayBeJson } from '../../src/upstream/off-chain/document.ts';

export const from = 'hosts of metadata';
export const covers = ['upstream/off-chain/document.ts'];

const MAX_BYTES = 2_048;
const encodings = ['gzip', 'br', 'deflate', 'GZIP ', 'identity', 'gzip, br', 'x-gzip'];
const document = Buffer.from('{"name":"n","image":"https://a.example/i.png"}');
const bomb = Buffer.alloc(MAX_BYTES * 20, '[');

/** A body; the first byte names its encoding. */
export const seeds: readonly Uint8Array[] = [document, bomb].flatMap((body) => [
  Buffer.of(0, ...gzipSync(body)),
  Buffer.of(1, ...brotliCompressSync(body)),
  Buffer.of(2, ...deflateSync(body)),
  Buffer.of(2, ...deflateRawSync(body)),
  Buffer.of(6, ...gzipSync(body)),
]);

/** A body is unpacked as far as it is short enough, or not at all. */
export async function fuzz(bytes: Uint8Array): Promise<boolean> {
  const encoding = encodings[(bytes[0] ?? 0) % encodings.length];
  const body = Buffer.from(bytes.subarray(1));
  mayBeJson(body.toString('latin1', 0, 80));
  const unpacked = await decoded(body, encoding, MAX_BYTES);
  if (encoding === 'identity') {
    if (unpacked !== body) throw new Error('changed what was not packed');
    return true;
  }
  if (unpacked !== null && unpacked.length > MAX_BYTES) throw new Error('unpacked more than is taken');
  return unpacked !== null;
}

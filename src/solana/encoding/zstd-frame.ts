import { constants, zstdCompressSync } from 'node:zlib';

/** Magic number, descriptor and window size. */
const FRAME_HEADER_BYTES = 6;
const BLOCK_HEADER_BYTES = 3;
const BLOCK_MAX_BYTES = 128 * 1024;
const EMPTY_LAST_BLOCK = Uint8Array.of(1, 0, 0);
const LAST_BLOCK = 1;
const RLE_BLOCK = 1;

/**
 * Compresses to the same bytes as a streaming encoder, such as Agave's, which does not know the length in advance: the
 * frame states no content size. A synchronous call of Node always knows the length if it ends the frame, so this one
 * only flushes, and the end is set here. Source: RFC 8878, §3.1.1.
 */
export function compressAsStream(data: Uint8Array): Buffer {
  if (data.length === 0) return zstdCompressSync(data);
  const flushed = zstdCompressSync(data, { finishFlush: constants.ZSTD_e_flush });
  // The encoder emits a full block before it knows that no other follows.
  if (data.length % BLOCK_MAX_BYTES === 0) return Buffer.concat([flushed, EMPTY_LAST_BLOCK]);
  const at = lastBlockAt(flushed);
  flushed.writeUInt8(flushed.readUInt8(at) | LAST_BLOCK, at);
  return flushed;
}

/** Offset of the last block's header: one bit for the last block, two for the type, the rest for the size. */
function lastBlockAt(frame: Buffer): number {
  for (let at = FRAME_HEADER_BYTES; ; ) {
    const header = frame.readUIntLE(at, BLOCK_HEADER_BYTES);
    const end = at + BLOCK_HEADER_BYTES + (((header >> 1) & 3) === RLE_BLOCK ? 1 : header >> 3);
    if (end >= frame.length) return at;
    at = end;
  }
}

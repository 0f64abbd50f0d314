import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/** "SLOT": where a reader that lost its way finds the next frame. */
const MAGIC = 0x544f4c53;
/** magic u32 | payload length u32 | CRC-32 of the payload u32, all little-endian. */
export const FRAME_HEAD_BYTES = 12;

/** A payload with its frame before it. */
export function framed(payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + payload.length);
  frame.writeUInt32LE(MAGIC, 0);
  frame.writeUInt32LE(payload.length, 4);
  frame.writeUInt32LE(crc32(payload), 8);
  frame.set(payload, FRAME_HEAD_BYTES);
  return frame;
}

/** The payload of the frame at an offset, as a view; null when there is no whole and undamaged frame. */
export function payloadAt(bytes: Buffer, offset: number): Buffer | null {
  const start = offset + FRAME_HEAD_BYTES;
  if (start > bytes.length || bytes.readUInt32LE(offset) !== MAGIC) return null;
  const end = start + bytes.readUInt32LE(offset + 4);
  if (end > bytes.length) return null;
  const payload = bytes.subarray(start, end);
  return crc32(payload) === bytes.readUInt32LE(offset + 8) ? payload : null;
}

/**
 * The payload of the frame at an offset of an open file; null when there is no whole and undamaged frame.
 * @param fileBytes - length of the file: no frame is longer, whatever its head says.
 */
export function readFrame(fd: number, offset: number, fileBytes: number): Buffer | null {
  const head = readWhole(fd, offset, Math.min(FRAME_HEAD_BYTES, fileBytes - offset));
  if (head.length < FRAME_HEAD_BYTES) return null;
  const length = FRAME_HEAD_BYTES + head.readUInt32LE(4);
  if (length > fileBytes - offset) return null;
  return payloadAt(readWhole(fd, offset, length), 0);
}

/** The bytes at an offset; fewer where the file ends. `read` may give less than it was asked for. */
function readWhole(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, bytes, done, length - done, offset + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

/** Whether an undamaged frame lies anywhere at or after an offset. */
export function hasFrameAfter(bytes: Buffer, offset: number): boolean {
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(MAGIC);
  let at = bytes.indexOf(magic, offset);
  for (; at !== -1; at = bytes.indexOf(magic, at + 1)) {
    if (payloadAt(bytes, at) !== null) return true;
  }
  return false;
}

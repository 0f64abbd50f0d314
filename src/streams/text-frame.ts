const FIN_TEXT = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

function headBytes(length: number): number {
  if (length < LENGTH_16) return 2;
  return length <= 0xffff ? 4 : 10;
}

export const frameBytes = (length: number): number => headBytes(length) + length;

/** Writes the head of an unmasked text frame. Returns the offset of the text. Source: RFC 6455 §5.2. */
export function writeFrameHead(target: Buffer, at: number, length: number): number {
  const head = headBytes(length);
  target[at] = FIN_TEXT;
  if (head === 2) target[at + 1] = length;
  else if (head === 4) {
    target[at + 1] = LENGTH_16;
    target[at + 2] = length >>> 8;
    target[at + 3] = length & 0xff;
  } else {
    target[at + 1] = LENGTH_64;
    target.writeBigUInt64BE(BigInt(length), at + 2);
  }
  return at + head;
}

export function textFrame(pieces: readonly Buffer[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  const frame = Buffer.allocUnsafe(frameBytes(length));
  let at = writeFrameHead(frame, 0, length);
  for (const piece of pieces) {
    frame.set(piece, at);
    at += piece.length;
  }
  return frame;
}

const FIN_TEXT = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

function headOf(length: number): number {
  if (length < LENGTH_16) return 2;
  return length <= 0xffff ? 4 : 10;
}

/**
 * One unmasked, unfragmented WebSocket text frame around the pieces of a UTF-8 text. Source: RFC 6455 §5.2.
 * @param tail - the last piece, short and ASCII: cheaper than another buffer.
 */
export function textFrame(pieces: readonly Buffer[], tail = ''): Buffer {
  let { length } = tail;
  for (const piece of pieces) length += piece.length;
  const head = headOf(length);
  const frame = Buffer.allocUnsafe(head + length);
  frame[0] = FIN_TEXT;
  if (head === 2) frame[1] = length;
  else if (head === 4) {
    frame[1] = LENGTH_16;
    frame[2] = length >>> 8;
    frame[3] = length & 0xff;
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  let at = head;
  for (const piece of pieces) {
    frame.set(piece, at);
    at += piece.length;
  }
  for (let i = 0; i < tail.length; i++) frame[at + i] = tail.charCodeAt(i);
  return frame;
}

import { textFrame } from '../../streams/text-frame.ts';

const BATCH_OPEN = Buffer.from('[');
const BATCH_NEXT = Buffer.from(',');
const BATCH_CLOSE = Buffer.from(']');

const FIN_PONG = 0x8a;

/** Ping without payload. Source: RFC 6455 §5.5.2. */
export const PING_FRAME = Buffer.from([0x89, 0]);

/** @param content - payload of the ping, 0 to 125 bytes. */
export function pongFrame(content: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(2 + content.length);
  frame[0] = FIN_PONG;
  frame[1] = content.length;
  content.copy(frame, 2);
  return frame;
}

export function batchFrame(responses: readonly Buffer[][]): Buffer {
  const pieces: Buffer[] = [];
  for (const response of responses) pieces.push(pieces.length === 0 ? BATCH_OPEN : BATCH_NEXT, ...response);
  pieces.push(BATCH_CLOSE);
  return textFrame(pieces);
}

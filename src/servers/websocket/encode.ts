import { writeJson } from '../../base/json.ts';
import { Failure, type FailureCode } from '../../protocol/errors.ts';
import { failureBody } from '../../protocol/response-envelope.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
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

/** Maximum length of the reason in a close frame. Source: RFC 6455 §5.5. */
export const CLOSE_REASON_MAX_BYTES = 123;

/** Close reason in ASCII: code and text of the failure, plus the backlog or the size limit, if set. */
export function closeReason({ code, row, facts }: Failure): string {
  const behind = facts?.bytes === undefined ? '' : ` (${facts.bytes} bytes behind)`;
  const limit = facts?.messageMaxBytes === undefined ? '' : ` (at most ${facts.messageMaxBytes} bytes)`;
  return `${code}: ${row.text}${behind}${limit}`.slice(0, CLOSE_REASON_MAX_BYTES);
}

export const errorBody = (rejection: Failure | RpcError): Buffer =>
  rejection instanceof RpcError
    ? Buffer.from(writeJson({ code: rejection.code, message: rejection.message, data: rejection.data }))
    : failureBody(rejection);

const faults: Readonly<Record<number, FailureCode>> = {
  1002: 'MALFORMED_FRAME',
  1007: 'PARSE_ERROR',
  // Too many fragments or chunks.
  1008: 'MESSAGE_TOO_LARGE',
  1009: 'MESSAGE_TOO_LARGE',
};

const TOO_LARGE = 1009;

export function failureOf(code: number, messageMaxBytes: number): Failure {
  const facts = code === TOO_LARGE ? { messageMaxBytes } : {};
  return new Failure(faults[code] ?? 'MALFORMED_FRAME', { facts });
}

import { writeJson } from '../../base/json.ts';
import { Failure, type FailureCode } from '../../protocol/errors.ts';
import { failureBody } from '../../protocol/response-envelope.ts';
import { RpcError } from '../../protocol/rpc-error.ts';

/** Most bytes of the reason in a close frame. Source: RFC 6455 §5.5. */
export const CLOSE_REASON_MAX_BYTES = 123;

/**
 * What the client reads when its connection is closed: name and text of the row, then how far it was behind or how
 * much it may send. ASCII.
 */
export function closeReason({ code, row, facts }: Failure): string {
  const behind = facts?.bytes === undefined ? '' : ` (${facts.bytes} bytes behind)`;
  const limit = facts?.messageMaxBytes === undefined ? '' : ` (at most ${facts.messageMaxBytes} bytes)`;
  return `${code}: ${row.text}${behind}${limit}`.slice(0, CLOSE_REASON_MAX_BYTES);
}

/** The raw JSON of the `error` member for a refusal. */
export const errorBody = (refusal: Failure | RpcError): Buffer =>
  refusal instanceof RpcError
    ? Buffer.from(writeJson({ code: refusal.code, message: refusal.message, data: refusal.data }))
    : failureBody(refusal);

/** The row for what `ws` found wrong with the bytes of a client, by the close code that it proposes. */
const faults: Readonly<Record<number, FailureCode>> = {
  1002: 'MALFORMED_FRAME',
  1007: 'PARSE_ERROR',
  // Too many fragments, or too many pieces of one.
  1008: 'MESSAGE_TOO_LARGE',
  1009: 'MESSAGE_TOO_LARGE',
};

const TOO_LARGE = 1009;

/**
 * The failure behind a fault in what came from the client.
 * @param messageMaxBytes - how long a message of this client may be.
 */
export function faultOf(code: number, messageMaxBytes: number): Failure {
  const facts = code === TOO_LARGE ? { messageMaxBytes } : {};
  return new Failure(faults[code] ?? 'MALFORMED_FRAME', { facts });
}
